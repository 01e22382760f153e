// Tokens of streams as bits of memory words. A word is CHANNELS ports of PORT_BITS side by side; element e of token
// `slot` sits at bit (slot * elements + e) * bits of the word, least significant bit first, so that no element crosses a
// port.
#pragma once

#include <ap_int.h>
#include <hls_vector.h>

#include <cstdint>

#include "wide_token.h"

const int PORT_BITS = 512;  // of the board that the design is emitted for

// How an element type looks as bits.
template <typename T>
struct Element;

template <int W>
struct Element<ap_int<W>> {
  static const int BITS = W;
  static ap_int<W> decode(ap_uint<W> bits) { return ap_int<W>(bits); }
  static ap_uint<W> encode(ap_int<W> value) { return ap_uint<W>(value); }
};

template <int W>
struct Element<ap_uint<W>> {
  static const int BITS = W;
  static ap_uint<W> decode(ap_uint<W> bits) { return bits; }
  static ap_uint<W> encode(ap_uint<W> value) { return value; }
};

template <>
struct Element<int> {
  static const int BITS = 32;
  static int decode(ap_uint<32> bits) { return bits.to_int(); }
  static ap_uint<32> encode(int value) { return ap_uint<32>(value); }
};

template <>
struct Element<int64_t> {
  static const int BITS = 64;
  static int64_t decode(ap_uint<64> bits) { return bits.to_int64(); }
  static ap_uint<64> encode(int64_t value) { return ap_uint<64>(value); }
};

template <>
struct Element<bool> {
  static const int BITS = 1;
  static bool decode(ap_uint<1> bits) { return bits != 0; }
  static ap_uint<1> encode(bool value) { return ap_uint<1>(value); }
};

template <>
struct Element<float> {
  static const int BITS = 32;
  union Pattern {
    float value;
    uint32_t bits;
  };
  static float decode(ap_uint<32> bits) {
    Pattern pattern;
    pattern.bits = bits.to_uint();
    return pattern.value;
  }
  static ap_uint<32> encode(float value) {
    Pattern pattern;
    pattern.value = value;
    return ap_uint<32>(pattern.bits);
  }
};

// The largest power of two that divides `bits`, at most a port's.
constexpr int chunk_bits(int bits, int chunk = PORT_BITS) {
  return bits % chunk == 0 ? chunk : chunk_bits(bits, chunk / 2);
}

// How a token is cut into pieces that no port's bits split: a lone element, the elements of a vector, chunks of packed
// bits (see packed_token.h).
template <typename TOKEN>
struct Pieces {
  typedef TOKEN Type;
  static const int COUNT = 1;
  static Type get(const TOKEN& token, int) { return token; }
  static void set(TOKEN& token, int, Type value) { token = value; }
};

template <typename T, std::size_t N>
struct Pieces<hls::vector<T, N> > {
  typedef T Type;
  static const int COUNT = int(N);
  static Type get(const hls::vector<T, N>& token, int e) { return token[e]; }
  static void set(hls::vector<T, N>& token, int e, Type value) { token[e] = value; }
};

template <typename T, int M, int N>
struct Pieces<WideToken<T, M, N> > {
  typedef T Type;
  static const int COUNT = M * N;
  static Type get(const WideToken<T, M, N>& token, int e) { return token[e]; }
  static void set(WideToken<T, M, N>& token, int e, Type value) { token[e] = value; }
};

template <int W>
struct Pieces<ap_uint<W> > {
  static const int BITS = chunk_bits(W);
  typedef ap_uint<BITS> Type;
  static const int COUNT = W / BITS;
  static Type get(const ap_uint<W>& token, int e) { return token.range(BITS * e + BITS - 1, BITS * e); }
  static void set(ap_uint<W>& token, int e, Type value) { token.range(BITS * e + BITS - 1, BITS * e) = value; }
};

// The pieces of one token behind those of others, of which the first leave the whole.
template <typename WHOLE, typename PART>
void shift_in(WHOLE& whole, const PART& part) {
#pragma HLS inline
  const int COUNT = Pieces<WHOLE>::COUNT, BEHIND = COUNT - Pieces<PART>::COUNT;
  for (int e = 0; e < COUNT; ++e) {
#pragma HLS unroll
    Pieces<WHOLE>::set(whole, e, e < BEHIND ? Pieces<WHOLE>::get(whole, e + COUNT - BEHIND) : Pieces<PART>::get(part, e - BEHIND));
  }
}

template <int W, int P>
void shift_in(ap_uint<W>& whole, const ap_uint<P>& part) {
#pragma HLS inline
  const ap_uint<W - P> kept = whole.range(W - 1, P);
  whole.range(W - P - 1, 0) = kept;
  whole.range(W - 1, W - P) = part;
}

// Pieces of word number `part` of a token that takes PARTS words; one part where PARTS is 1 and the token is in `slot`.
// Each part has a branch of its own, where pieces are known by number: HLS takes a vector for one wide number, in which
// an index that varies is a shift of all of it, once for each piece.
template <int PARTS, typename TOKEN, int CHANNELS>
void unpack(const ap_uint<PORT_BITS> (&word)[CHANNELS], int slot, int part, TOKEN& token) {
#pragma HLS inline
  typedef Element<typename Pieces<TOKEN>::Type> Bits;
  const int COUNT = PARTS == 1 ? Pieces<TOKEN>::COUNT : PORT_BITS * CHANNELS / Bits::BITS;
  for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
    if (p == part) {
      for (int e = 0; e < COUNT; ++e) {
#pragma HLS unroll
        const int bit = (slot * COUNT + e) * Bits::BITS, low = bit % PORT_BITS;
        const int piece = p * COUNT + e;
        if (piece < Pieces<TOKEN>::COUNT) {
          const ap_uint<Bits::BITS> bits = word[bit / PORT_BITS].range(low + Bits::BITS - 1, low);
          Pieces<TOKEN>::set(token, piece, Bits::decode(bits));
        }
      }
    }
  }
}

// The reverse: puts the token, or its part, into the word.
template <int PARTS, typename TOKEN, int CHANNELS>
void pack(const TOKEN& token, int slot, int part, ap_uint<PORT_BITS> (&word)[CHANNELS]) {
#pragma HLS inline
  typedef Element<typename Pieces<TOKEN>::Type> Bits;
  const int COUNT = PARTS == 1 ? Pieces<TOKEN>::COUNT : PORT_BITS * CHANNELS / Bits::BITS;
  for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
    if (p == part) {
      for (int e = 0; e < COUNT; ++e) {
#pragma HLS unroll
        const int bit = (slot * COUNT + e) * Bits::BITS, low = bit % PORT_BITS;
        const int piece = p * COUNT + e;
        if (piece < Pieces<TOKEN>::COUNT) {
          word[bit / PORT_BITS].range(low + Bits::BITS - 1, low) = Bits::encode(Pieces<TOKEN>::get(token, piece));
        }
      }
    }
  }
}
