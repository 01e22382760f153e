// AMD's public hls::stream is of the time before a stream had a depth: what Vitis has since, on top of it. It never fills.
#pragma once

#include <iostream>
#include <queue>
#include <sstream>
#include <string>
#include <typeinfo>

#define stream unbounded_stream
#include "../../third_party/ap_types/hls_stream.h"
#undef stream

namespace hls {

template <class T, int DEPTH = 0>
class stream;

template <class T>
class stream<T, 0> : public unbounded_stream<T> {
 public:
  explicit stream(const char* name = "") : unbounded_stream<T>(name) {}
};

template <class T, int DEPTH>
class stream : public stream<T, 0> {
 public:
  explicit stream(const char* name = "") : stream<T, 0>(name) {}
};

}  // namespace hls
