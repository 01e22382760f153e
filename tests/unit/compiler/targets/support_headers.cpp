// What the headers beside the emitted code promise, checked; prints what is wrong.
#include <cstdio>

#include "mul2.h"
#include "packed_token.h"

static int failures = 0;

static void expect(bool holds, const char* what, int a, int b) {
  if (!holds && failures++ < 10) std::printf("%s fails for %d, %d\n", what, a, b);
}

static unsigned random_bits() {
  static unsigned state = 1;
  return state = state * 1664525u + 1013904223u;
}

// A token of N elements through its packed bits and through memory words of CHANNELS ports, PARTS of them.
template <typename T, typename TOKEN, int N, int CHANNELS, int PARTS>
void round_trip(const char* what) {
  T elements[N], back[N];
  for (int e = 0; e < N; ++e) elements[e] = Element<T>::decode(ap_uint<Element<T>::BITS>(random_bits() >> 9));
  const TOKEN token = pack_elements<TOKEN>(elements);
  unpack_elements(token, back);
  for (int e = 0; e < N; ++e) expect(back[e] == elements[e], what, e, 0);

  TOKEN loaded(0);
  for (int part = 0; part < PARTS; ++part) {
    ap_uint<512> word[CHANNELS];
    for (int c = 0; c < CHANNELS; ++c) word[c] = 0;
    pack<PARTS>(token, 0, part, word);
    unpack<PARTS>(word, 0, part, loaded);
    const int bits = Element<T>::BITS, per_word = 512 * CHANNELS / bits;
    for (int e = part * per_word; e < N && e < (part + 1) * per_word; ++e) {
      const int low = (e - part * per_word) * bits;  // element e of a token lies at e * bits
      const ap_uint<Element<T>::BITS> stored = word[low / 512].range(low % 512 + bits - 1, low % 512);
      expect(Element<T>::decode(stored) == elements[e], what, e, part);
    }
  }
  unpack_elements(loaded, back);
  for (int e = 0; e < N; ++e) expect(back[e] == elements[e], what, e, PARTS);
}

// Packed tokens of N elements, dealt out to two and joined again, BITS bits at a time.
template <int BITS, typename TOKEN, typename HALF, int N>
void deal(const char* what) {
  ap_int<4> elements[N], back[N];
  for (int e = 0; e < N; ++e) elements[e] = Element<ap_int<4> >::decode(ap_uint<4>(random_bits() >> 9));
  const TOKEN token = pack_elements<TOKEN>(elements);
  HALF half[2] = {HALF(0), HALF(0)};
  TOKEN joined(0);
  for (int at = 0; at < N * 4; at += BITS) move_bits<BITS>(token, at, half[at / BITS % 2], at / BITS / 2 * BITS);
  for (int at = 0; at < N * 4; at += BITS) move_bits<BITS>(half[at / BITS % 2], at / BITS / 2 * BITS, joined, at);
  unpack_elements(joined, back);
  for (int e = 0; e < N; ++e) expect(back[e] == elements[e], what, e, 0);
  ap_int<4> first[N / 2];
  unpack_elements(half[1], first);
  for (int e = 0; e < BITS / 4; ++e) expect(first[e] == elements[BITS / 4 + e], what, e, 1);
}

// A token that two FIFOs carry.
void wide() {
  typedef WideToken<ap_int<8>, 16, 2> Token;
  Token token(3);
  expect(token[0] == 3 && token[31] == 3, "a wide token begins as", 3, 0);
  for (int e = 0; e < 32; ++e) token[e] = ap_int<8>(e);
  const Token joined(token.parts[0], token.parts[1]);
  for (int e = 0; e < 32; ++e) expect(joined[e] == ap_int<8>(e) && joined.parts[e / 16][e % 16] == joined[e], "wide", e, 0);
}

// Pieces that are put together are those of the whole, the first in front.
template <typename WHOLE, typename PART, int E, int N>
void put_together(const char* what) {
  WHOLE whole(0);
  for (int piece = 0; piece < N / E; ++piece) {
    ap_int<4> elements[E];
    for (int e = 0; e < E; ++e) elements[e] = ap_int<4>((piece * E + e) * 7 % 13);
    shift_in(whole, pack_elements<PART>(elements));
  }
  ap_int<4> found[N];
  unpack_elements(whole, found);
  for (int e = 0; e < N; ++e) expect(found[e] == ap_int<4>(e * 7 % 13), what, e, 0);
}

int main() {
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b)
      for (int c = -128; c < 128; ++c) {
        int ac = 0, bc = 0;
        mul2(a, b, c, ac, bc);
        expect(ac == a * c && bc == b * c, "mul2", a, b);
      }
  round_trip<ap_int<4>, ap_uint<12>, 3, 1, 1>("3 int4");
  round_trip<ap_int<4>, ap_uint<64>, 16, 1, 1>("16 int4");
  round_trip<ap_int<4>, ap_uint<512>, 128, 1, 1>("128 int4");
  round_trip<ap_int<4>, ap_uint<1024>, 256, 2, 1>("256 int4 over two channels");
  round_trip<ap_int<4>, ap_uint<1024>, 256, 1, 2>("256 int4 in two words");
  round_trip<ap_int<4>, hls::vector<ap_uint<512>, 4>, 512, 2, 2>("512 int4 in two words of two channels");
  round_trip<ap_int<4>, hls::vector<ap_uint<16>, 75>, 300, 1, 3>("300 int4");
  round_trip<ap_int<4>, WideToken<ap_uint<64>, 2, 2>, 64, 1, 1>("64 int4 in two parts");
  round_trip<ap_int<4>, WideToken<ap_uint<64>, 4, 3>, 192, 1, 2>("192 int4 in three parts and two words");
  deal<16, ap_uint<64>, ap_uint<32>, 16>("deal 16 int4");
  deal<4, hls::vector<ap_uint<32>, 4>, ap_uint<64>, 32>("deal 32 int4");
  deal<16, WideToken<ap_uint<32>, 2, 2>, hls::vector<ap_uint<32>, 2>, 32>("deal 32 int4 in two parts");
  put_together<ap_uint<64>, ap_uint<16>, 4, 16>("put together 16 int4");
  put_together<hls::vector<ap_uint<512>, 4>, ap_uint<256>, 64, 512>("put together 512 int4 of 64");
  put_together<hls::vector<ap_uint<512>, 4>, ap_uint<1024>, 256, 512>("put together 512 int4 of 256");
  put_together<hls::vector<ap_uint<32>, 6>, ap_uint<96>, 24, 48>("put together 48 int4 of 24");
  put_together<WideToken<ap_uint<512>, 1, 2>, ap_uint<256>, 64, 256>("put together 256 int4 of 64, in two parts");
  put_together<WideToken<ap_uint<512>, 2, 2>, hls::vector<ap_uint<512>, 2>, 256, 512>("put together 512 int4 of 256");
  wide();
  round_trip<bool, ap_uint<7>, 7, 1, 1>("7 bits");
  round_trip<bool, ap_uint<96>, 96, 1, 1>("96 bits");
  return failures != 0;
}
