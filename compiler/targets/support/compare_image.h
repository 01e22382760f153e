// Compares what the kernels left in memory with the expected results, element by element, and says how far off it is.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "memory_image.h"
#include "stream_pack.h"

// One output, all of its channels together: an element may be off by `tolerance` times the largest expected magnitude.
// What is not finite differs from everything.
class Comparison {
  struct Pair {
    double got, expected;
    std::size_t channel, place;
  };
  std::string name_;
  double tolerance_;
  std::size_t channels_;
  std::vector<Pair> pairs_;

 public:
  Comparison(const std::string& name, double tolerance) : name_(name), tolerance_(tolerance), channels_(0) {}

  // The next channel of the output: its words, and the expected ones. Where `valid` has words, elements that are zero in
  // it are padding, which may hold anything.
  template <typename T>
  Comparison& add(const MemoryImage& got, const MemoryImage& expected, const MemoryImage& valid = MemoryImage()) {
    const int bits = Element<T>::BITS, elements = PORT_BITS / bits;
    for (std::size_t w = 0; w < expected.size(); ++w) {
      for (int e = 0; e < elements; ++e) {
        const int low = bits * e, high = low + bits - 1;
        if (!valid.empty() && ap_uint<bits>(valid[w].range(high, low)) == 0) continue;
        const Pair pair = {double(Element<T>::decode(got[w].range(high, low))),
                           double(Element<T>::decode(expected[w].range(high, low))), channels_, w * elements + e};
        pairs_.push_back(pair);
      }
    }
    ++channels_;
    return *this;
  }

  // Prints how the output compares; returns whether it is within the tolerance.
  bool report() const {
    const double scale = largest_expected();
    double worst = 0;
    std::size_t wrong = 0;
    Pair first = {0, 0, 0, 0};
    for (const Pair& pair : pairs_) {
      const double error = std::fabs(pair.got - pair.expected);
      if (!(error <= tolerance_ * scale) && wrong++ == 0) first = pair;
      if (error > worst) worst = error;
    }
    if (wrong == 0) {
      std::printf("%s: passed; off by %.3g of the largest magnitude at most, %.3g is allowed\n", name_.c_str(),
                  worst / scale, tolerance_);
      return true;
    }
    std::fprintf(stderr, "%s: FAILED; %zu of %zu elements are off by more than %.3g of the largest magnitude %.6g\n",
                 name_.c_str(), wrong, pairs_.size(), tolerance_, scale);
    std::fprintf(stderr, "  the first, element %zu of channel %zu, is %.9g where %.9g is expected\n", first.place,
                 first.channel, first.got, first.expected);
    return false;
  }

 private:
  double largest_expected() const {
    double largest = 0;
    for (const Pair& pair : pairs_)
      if (std::isfinite(pair.expected)) largest = std::fmax(largest, std::fabs(pair.expected));
    return largest > 0 ? largest : 1;
  }
};
