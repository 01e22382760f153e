// Tokens of several elements narrower than a byte. They travel as bits, element 0 in the lowest, so that a FIFO is as wide
// as its elements are: in a hls::vector each of them may take a byte. Beyond what one ap_uint holds, the bits are a
// hls::vector of words.
#pragma once

#include <ap_int.h>
#include <hls_vector.h>

#include "stream_pack.h"

// The words of packed bits.
template <typename TOKEN>
struct Words;

template <int W>
struct Words<ap_uint<W> > {
  static const int BITS = W;
  static const ap_uint<W>& at(const ap_uint<W>& token, int) { return token; }
  static ap_uint<W>& at(ap_uint<W>& token, int) { return token; }
};

template <int W, std::size_t N>
struct Words<hls::vector<ap_uint<W>, N> > {
  static const int BITS = W;
  static const ap_uint<W>& at(const hls::vector<ap_uint<W>, N>& token, int w) { return token[w]; }
  static ap_uint<W>& at(hls::vector<ap_uint<W>, N>& token, int w) { return token[w]; }
};

template <int W, int M, int N>
struct Words<WideToken<ap_uint<W>, M, N> > {
  static const int BITS = W;
  static const ap_uint<W>& at(const WideToken<ap_uint<W>, M, N>& token, int w) { return token[w]; }
  static ap_uint<W>& at(WideToken<ap_uint<W>, M, N>& token, int w) { return token[w]; }
};

// BITS bits of one token, from bit `low` on, to the bits from `to` on of another; no word of theirs splits them. Unlike
// an array of elements, words stay below the 1024 that Vitis HLS partitions an array into.
template <int BITS, typename FROM, typename TO>
void move_bits(const FROM& from, int low, TO& token, int to) {
#pragma HLS inline
  const int L = low % Words<FROM>::BITS, T = to % Words<TO>::BITS;
  const ap_uint<BITS> bits = Words<FROM>::at(from, low / Words<FROM>::BITS).range(L + BITS - 1, L);
  Words<TO>::at(token, to / Words<TO>::BITS).range(T + BITS - 1, T) = bits;
}

// One word of bits behind those of others, of which the first leave the whole: in pieces that no word splits.
template <int COUNT, typename WHOLE, int P>
void shift_words_in(WHOLE& whole, const ap_uint<P>& part) {
#pragma HLS inline
  const int W = Words<WHOLE>::BITS, BITS = chunk_bits(P) < W ? chunk_bits(P) : W, BEHIND = COUNT * W - P;
  for (int to = 0; to < BEHIND; to += BITS) {
#pragma HLS unroll
    move_bits<BITS>(whole, to + P, whole, to);
  }
  for (int low = 0; low < P; low += BITS) {
#pragma HLS unroll
    move_bits<BITS>(part, low, whole, BEHIND + low);
  }
}

template <int W, std::size_t N, int P>
void shift_in(hls::vector<ap_uint<W>, N>& whole, const ap_uint<P>& part) {
#pragma HLS inline
  shift_words_in<int(N)>(whole, part);
}

template <int W, int M, int N, int P>
void shift_in(WideToken<ap_uint<W>, M, N>& whole, const ap_uint<P>& part) {
#pragma HLS inline
  shift_words_in<M * N>(whole, part);
}

// The elements of a token.
template <typename TOKEN, typename T, int N>
void unpack_elements(const TOKEN& token, T (&elements)[N]) {
#pragma HLS inline
  const int BITS = Element<T>::BITS, PER_WORD = Words<TOKEN>::BITS / BITS;
  for (int e = 0; e < N; ++e) {
#pragma HLS unroll
    const int low = e % PER_WORD * BITS;
    const ap_uint<BITS> bits = Words<TOKEN>::at(token, e / PER_WORD).range(low + BITS - 1, low);
    elements[e] = Element<T>::decode(bits);
  }
}

// The token of some elements.
template <typename TOKEN, typename T, int N>
TOKEN pack_elements(const T (&elements)[N]) {
#pragma HLS inline
  const int BITS = Element<T>::BITS, PER_WORD = Words<TOKEN>::BITS / BITS;
  TOKEN token(0);
  for (int e = 0; e < N; ++e) {
#pragma HLS unroll
    const int low = e % PER_WORD * BITS;
    Words<TOKEN>::at(token, e / PER_WORD).range(low + BITS - 1, low) = Element<T>::encode(elements[e]);
  }
  return token;
}
