// Two products of int8 (or int4) that share a factor, in one DSP48E2 (AMD WP486): its multiplier takes 27 x 18 bits, so
// the two other factors lie in its wide input, 18 bits apart.
#pragma once

#include <ap_int.h>

// ac = a * c, bc = b * c.
inline void mul2(ap_int<8> a, ap_int<8> b, ap_int<8> c, int& ac, int& bc) {
#pragma HLS inline
  const ap_int<27> pair = (ap_int<27>(a) << 18) + b;
  const ap_int<35> product = pair * c;
#pragma HLS bind_op variable=product op=mul impl=dsp
  const ap_int<18> low = product;  // b * c has 16 bits
  bc = low.to_int();
  ac = ap_int<17>(product >> 18).to_int() + (low < 0 ? 1 : 0);  // a negative low half has borrowed from the high one
}
