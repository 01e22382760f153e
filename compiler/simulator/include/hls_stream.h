// hls::stream<T, DEPTH>: a FIFO of exactly DEPTH tokens between two dataflow tasks.
//
// Unlike the C simulation of Vitis, where streams never fill, a write to a full stream and a read from an empty one
// block the task and let another run, so depths that are too small show as a deadlock report (see millrace/fiber.h).
#pragma once

#include <cstddef>
#include <type_traits>

#include "millrace/fiber.h"

namespace hls {

template <class T, int DEPTH = 0>
class stream;

/// A stream of any depth, as tasks take it by reference. Declared as such it has the default depth of Vitis, 2.
template <class T>
class stream<T, 0> : public millrace::StreamBase {
  static_assert(std::is_trivially_copyable_v<T>, "tokens are plain data");
  T* const slots_;

  void pop(T& token) {
    token = slots_[head_++ & mask_];
    if (__builtin_expect(writer_ != nullptr, 0)) wake_writer();
  }
  void push(const T& token) {
    T& slot = slots_[tail_++ & mask_];
    slot = token;
    if (__builtin_expect(watched_, 0)) pushed(&slot, sizeof(T));
  }

 protected:
  stream(const char* name, std::size_t depth) : StreamBase(name, depth), slots_(new T[mask_ + 1]) {}

 public:
  using value_type = T;

  explicit stream(const char* name = nullptr) : stream(name, 2) {}
  ~stream() {
    close();
    delete[] slots_;
  }

  void read(T& token) {
    if (__builtin_expect(head_ == tail_, 0)) wait_for_token();
    pop(token);
  }
  T read() {
    T token;
    read(token);
    return token;
  }
  void write(const T& token) {
    if (__builtin_expect(tail_ - head_ == depth_, 0)) wait_for_room();
    push(token);
  }
  bool read_nb(T& token) {
    if (empty()) return false;
    pop(token);
    return true;
  }
  bool write_nb(const T& token) {
    if (full()) return false;
    push(token);
    return true;
  }
  void operator>>(T& token) { read(token); }
  void operator<<(const T& token) { write(token); }

  /// Lets other tasks run before it answers true, so that a loop that polls does not stall them; likewise full().
  bool empty() {
    if (head_ == tail_) yield();
    return head_ == tail_;
  }
  bool full() {
    if (tail_ - head_ == depth_) yield();
    return tail_ - head_ == depth_;
  }
};

template <class T, int DEPTH>
class stream : public stream<T, 0> {
  static_assert(DEPTH > 0, "a stream holds at least one token");

 public:
  explicit stream(const char* name = nullptr) : stream<T, 0>(name, DEPTH) {}
};

}  // namespace hls
