// hls::burst_maxi as AMD UG1399 ("Using Manual Burst") declares it, which no public header has; to parse, not to run.
#pragma once

#include <cstddef>

namespace hls {

template <typename T>
class burst_maxi {
  T* Ptr;

 public:
  burst_maxi(T* p) : Ptr(p) {}
  burst_maxi(const burst_maxi& B) : Ptr(B.Ptr) {}
  void read_request(std::size_t, std::size_t) {}
  T read() { return *Ptr; }
  void write_request(std::size_t, std::size_t) {}
  void write(const T& value) { *Ptr = value; }
  void write_response() {}
};

}  // namespace hls
