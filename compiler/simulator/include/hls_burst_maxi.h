// hls::burst_maxi<T>: a memory port whose bursts are asked for by hand (AMD UG1399, "Using Manual Burst").
//
// Memory here is as late as memory may be: what is written is there when write_response() returns, and that returns when
// no other task can go on without it; what is read is what memory held when it was asked for. So a read that nothing but
// luck puts behind a write gets the old words.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "millrace/fail.h"
#include "millrace/fiber.h"

namespace hls {

/// Requests that an adapter takes without a read: USER_MAXREQS of the RTL that HLS makes where `latency` is 0.
constexpr std::size_t TAKEN = 5;

/// A port of words of type T, passed by value. What was asked for belongs to the task that asked.
template <class T>
class burst_maxi {
  struct Burst {
    std::size_t offset, length;
    std::vector<T> words;
  };
  T* memory_;
  std::deque<T> coming_;       // words that were asked for
  std::deque<unsigned> open_;  // how many of them by each request of which some are unread
  std::deque<Burst> writes_;   // bursts that memory has not answered

 public:
  using value_type = T;

  burst_maxi(T* memory) : memory_(memory) {}
  burst_maxi(const burst_maxi& other) : memory_(other.memory_) {}
  burst_maxi& operator=(const burst_maxi&) = delete;
  ~burst_maxi() {
    if (!coming_.empty()) millrace::fail("it ends with %zu words unread that it asked memory for", coming_.size());
    if (!writes_.empty()) millrace::fail("it ends before memory has answered a write");
  }

  /// The next `length` words from `offset` on, in words.
  void read_request(std::size_t offset, unsigned length) {
    if (open_.size() == TAKEN) millrace::fail("it makes more requests than memory may take before it reads their words");
    if (length > 0) open_.push_back(length);
    coming_.insert(coming_.end(), memory_ + offset, memory_ + offset + length);
  }
  T read() {
    if (coming_.empty()) millrace::fail("it reads a word that it has not asked memory for");
    const T word = coming_.front();
    coming_.pop_front();
    if (--open_.front() == 0) open_.pop_front();
    return word;
  }

  void write_request(std::size_t offset, unsigned length) { writes_.push_back({offset, length, {}}); }
  void write(const T& word) {
    for (Burst& burst : writes_) {
      if (burst.words.size() == burst.length) continue;
      burst.words.push_back(word);
      return;
    }
    millrace::fail("it writes a word for which it has made no request");
  }
  /// Waits for the answer to the oldest request.
  void write_response() {
    if (writes_.empty()) millrace::fail("it waits for an answer without a write");
    const Burst burst = writes_.front();
    if (burst.words.size() < burst.length)
      millrace::fail("it waits for the answer to %zu words and has written %zu", burst.length, burst.words.size());
    writes_.pop_front();
    millrace::let_others_run();
    for (std::size_t i = 0; i < burst.length; ++i) memory_[burst.offset + i] = burst.words[i];
  }
};

}  // namespace hls
