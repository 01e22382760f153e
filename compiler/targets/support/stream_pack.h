// Tokens of streams as bits of memory words. A word is CHANNELS ports of 512 bits side by side; element e of token `slot`
// sits at bit (slot * elements + e) * bits of the word, least significant bit first, so that no element crosses a port.
#pragma once

#include <ap_int.h>
#include <hls_vector.h>

#include <cstdint>

// How an element type looks as bits.
template <typename T>
struct Element;

template <int W>
struct Element<ap_int<W>> {
  static const int BITS = W;
  static ap_int<W> decode(unsigned bits) { return ap_int<W>(bits); }
  static ap_uint<W> encode(ap_int<W> value) { return ap_uint<W>(value); }
};

template <>
struct Element<int> {
  static const int BITS = 32;
  static int decode(unsigned bits) { return int(bits); }
  static ap_uint<32> encode(int value) { return ap_uint<32>(unsigned(value)); }
};

template <>
struct Element<bool> {
  static const int BITS = 1;
  static bool decode(unsigned bits) { return bits != 0; }
  static ap_uint<1> encode(bool value) { return ap_uint<1>(value); }
};

template <>
struct Element<float> {
  static const int BITS = 32;
  union Pattern {
    float value;
    uint32_t bits;
  };
  static float decode(unsigned bits) {
    Pattern pattern;
    pattern.bits = bits;
    return pattern.value;
  }
  static ap_uint<32> encode(float value) {
    Pattern pattern;
    pattern.value = value;
    return ap_uint<32>(pattern.bits);
  }
};

// A token is one element or a vector of them.
template <typename TOKEN>
struct Token {
  typedef TOKEN Type;
  static const int SIZE = 1;
  static TOKEN& at(TOKEN& token, int) { return token; }
  static const TOKEN& at(const TOKEN& token, int) { return token; }
};

template <typename T, std::size_t N>
struct Token<hls::vector<T, N> > {
  typedef T Type;
  static const int SIZE = int(N);
  static T& at(hls::vector<T, N>& token, int e) { return token[e]; }
  static const T& at(const hls::vector<T, N>& token, int e) { return token[e]; }
};

// Elements of word number `part` of a token that takes PARTS words; one part where PARTS is 1 and the token is in `slot`.
template <int PARTS, typename TOKEN, int CHANNELS>
void unpack(const ap_uint<512> (&word)[CHANNELS], int slot, int part, TOKEN& token) {
#pragma HLS inline
  typedef Element<typename Token<TOKEN>::Type> Bits;
  const int COUNT = PARTS == 1 ? Token<TOKEN>::SIZE : 512 * CHANNELS / Bits::BITS;
  for (int e = 0; e < COUNT; ++e) {
#pragma HLS unroll
    const int bit = (slot * COUNT + e) * Bits::BITS;
    const int element = part * COUNT + e;
    if (element < Token<TOKEN>::SIZE) {
      Token<TOKEN>::at(token, element) =
          Bits::decode(word[bit / 512].range(bit % 512 + Bits::BITS - 1, bit % 512).to_uint());
    }
  }
}

// The reverse: puts the token, or its part, into the word.
template <int PARTS, typename TOKEN, int CHANNELS>
void pack(const TOKEN& token, int slot, int part, ap_uint<512> (&word)[CHANNELS]) {
#pragma HLS inline
  typedef Element<typename Token<TOKEN>::Type> Bits;
  const int COUNT = PARTS == 1 ? Token<TOKEN>::SIZE : 512 * CHANNELS / Bits::BITS;
  for (int e = 0; e < COUNT; ++e) {
#pragma HLS unroll
    const int bit = (slot * COUNT + e) * Bits::BITS;
    const int element = part * COUNT + e;
    if (element < Token<TOKEN>::SIZE) {
      word[bit / 512].range(bit % 512 + Bits::BITS - 1, bit % 512) = Bits::encode(Token<TOKEN>::at(token, element));
    }
  }
}
