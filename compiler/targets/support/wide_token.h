// Tokens of more bits than one FIFO takes: Vitis HLS refuses streams of more than 4096 (Vitis-Tutorials, issue 426). Their
// parts travel side by side, each through a FIFO of its own, and none of them is ever one word together.
#pragma once

#include <hls_vector.h>

template <typename T, int M, int N>
struct WideToken {
  typedef hls::vector<T, M> Part;
  Part parts[N];

  WideToken() = default;
  // All words hold this.
  explicit WideToken(int value) {
#pragma HLS inline
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
      parts[n] = Part(T(value));
    }
  }
  template <typename... OTHERS>
  WideToken(const Part& first, const Part& second, const OTHERS&... others) : parts{first, second, others...} {}

  T& operator[](int e) { return parts[e / M][e % M]; }
  const T& operator[](int e) const { return parts[e / M][e % M]; }
};
