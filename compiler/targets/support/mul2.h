// Two products of int8 (or int4) that share a factor, in one DSP48E2 (AMD WP486): its multiplier takes 27 x 18 bits, so
// the two other factors lie in its wide input, 18 bits apart. Sums of such pairs are pairs of sums while the lower one
// has 18 bits.
#pragma once

#include <ap_int.h>

// a * c above b * c.
inline ap_int<35> pair2(ap_int<8> a, ap_int<8> b, ap_int<8> c) {
#pragma HLS inline
  const ap_int<27> pair = (ap_int<27>(a) << 18) + b;
  const ap_int<35> product = pair * c;
#pragma HLS bind_op variable=product op=mul impl=dsp
  return product;
}

// The two of a pair.
template <int BITS>
inline void split2(ap_int<BITS> pair, int& high, int& low) {
#pragma HLS inline
  const ap_int<18> field = pair;
  low = field.to_int();
  // A negative low half has borrowed from the high one.
  high = ap_int<BITS - 18>(pair >> 18).to_int() + (field < 0 ? 1 : 0);
}

// ac = a * c, bc = b * c.
inline void mul2(ap_int<8> a, ap_int<8> b, ap_int<8> c, int& ac, int& bc) {
#pragma HLS inline
  split2(pair2(a, b, c), ac, bc);
}
