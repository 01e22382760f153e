// Balanced trees over the lanes of a reduction. Written out because float additions are not re-associated by the tool: a
// loop would become a chain of N adders.
#pragma once

#include <hls_math.h>

#include <cstdint>

struct Add {
  template <typename T>
  static T of(T a, T b) {
    return a + b;
  }
};

// Adders of LUTs alone, where DSPs are for products.
struct AddInFabric {
  static float of(float a, float b) {
#pragma HLS inline
    const float sum = a + b;
#pragma HLS bind_op variable=sum op=fadd impl=fabric
    return sum;
  }
};

struct Multiply {
  template <typename T>
  static T of(T a, T b) {
    return a * b;
  }
};

struct Maximum {
  static float of(float a, float b) { return hls::fmax(a, b); }
  static int of(int a, int b) { return a > b ? a : b; }
  static int64_t of(int64_t a, int64_t b) { return a > b ? a : b; }
};

struct Minimum {
  static float of(float a, float b) { return hls::fmin(a, b); }
  static int of(int a, int b) { return a < b ? a : b; }
  static int64_t of(int64_t a, int64_t b) { return a < b ? a : b; }
};

// Combines terms[FIRST] .. terms[FIRST + COUNT - 1].
template <typename OP, int FIRST, int COUNT>
struct Tree {
  template <typename T, int N>
  static T of(const T (&terms)[N]) {
#pragma HLS inline
    return OP::of(Tree<OP, FIRST, COUNT / 2>::of(terms), Tree<OP, FIRST + COUNT / 2, COUNT - COUNT / 2>::of(terms));
  }
};

template <typename OP, int FIRST>
struct Tree<OP, FIRST, 1> {
  template <typename T, int N>
  static T of(const T (&terms)[N]) {
#pragma HLS inline
    return terms[FIRST];
  }
};

template <typename OP, typename T, int N>
T reduce_tree(const T (&terms)[N]) {
#pragma HLS inline
  return Tree<OP, 0, N>::of(terms);
}
