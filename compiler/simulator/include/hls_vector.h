// hls::vector<T, N>: N elements that travel together, with element-wise operators; layout and alignment as in Vitis.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

namespace hls {
namespace detail {

/// Greatest power of two that divides n.
constexpr std::size_t alignment_of(std::size_t n) { return n & (~n + 1); }

}  // namespace detail

template <class T, std::size_t N>
class alignas(detail::alignment_of(sizeof(T) * N)) vector {
  static_assert(N > 0, "a vector has at least one element");
  std::array<T, N> data_;

  static std::size_t checked(std::size_t i) {
    if (__builtin_expect(i >= N, 0)) __builtin_trap();  // as for an array: see csim/build.py
    return i;
  }

 public:
  using value_type = T;

  vector() = default;
  vector(const T& value) { data_.fill(value); }
  template <class U, std::enable_if_t<std::is_arithmetic<U>::value && !std::is_same<U, T>::value, int> = 0>
  vector(U value) {
    data_.fill(T(value));
  }
  vector(const std::array<T, N>& values) : data_(values) {}
  vector(std::initializer_list<T> values) : data_{} {
    std::size_t i = 0;
    for (const T& value : values)
      if (i < N) data_[i++] = value;
  }

  T& operator[](std::size_t i) { return data_[checked(i)]; }
  const T& operator[](std::size_t i) const { return data_[checked(i)]; }
  static constexpr std::size_t size() { return N; }
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  auto begin() const { return data_.begin(); }
  auto end() const { return data_.end(); }

#define MILLRACE_ELEMENTWISE(OP, ASSIGN)                                 \
  vector& operator ASSIGN(const vector& other) {                         \
    for (std::size_t i = 0; i < N; ++i) data_[i] ASSIGN other.data_[i];  \
    return *this;                                                        \
  }                                                                      \
  friend vector operator OP(vector a, const vector& b) { return a ASSIGN b; }
  MILLRACE_ELEMENTWISE(+, +=)
  MILLRACE_ELEMENTWISE(-, -=)
  MILLRACE_ELEMENTWISE(*, *=)
  MILLRACE_ELEMENTWISE(/, /=)
  MILLRACE_ELEMENTWISE(%, %=)
  MILLRACE_ELEMENTWISE(&, &=)
  MILLRACE_ELEMENTWISE(|, |=)
  MILLRACE_ELEMENTWISE(^, ^=)
  MILLRACE_ELEMENTWISE(<<, <<=)
  MILLRACE_ELEMENTWISE(>>, >>=)
#undef MILLRACE_ELEMENTWISE

#define MILLRACE_COMPARE(OP)                                                      \
  friend vector<bool, N> operator OP(const vector& a, const vector& b) {          \
    vector<bool, N> result;                                                       \
    for (std::size_t i = 0; i < N; ++i) result[i] = a.data_[i] OP b.data_[i];     \
    return result;                                                                \
  }
  MILLRACE_COMPARE(<)
  MILLRACE_COMPARE(<=)
  MILLRACE_COMPARE(>)
  MILLRACE_COMPARE(>=)
#undef MILLRACE_COMPARE
  /// Equality is of whole vectors, as in Vitis.
  friend bool operator==(const vector& a, const vector& b) {
    bool equal = true;
    for (std::size_t i = 0; i < N; ++i) equal &= a.data_[i] == b.data_[i];
    return equal;
  }
  friend bool operator!=(const vector& a, const vector& b) { return !(a == b); }

  vector operator+() const { return *this; }
  vector operator-() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result[i] = T(-data_[i]);
    return result;
  }
  vector operator~() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result[i] = T(~data_[i]);
    return result;
  }

  T reduce_add() const { return fold([](const T& a, const T& b) { return T(a + b); }); }
  T reduce_mult() const { return fold([](const T& a, const T& b) { return T(a * b); }); }
  T reduce_and() const { return fold([](const T& a, const T& b) { return T(a & b); }); }
  T reduce_or() const { return fold([](const T& a, const T& b) { return T(a | b); }); }
  T reduce_xor() const { return fold([](const T& a, const T& b) { return T(a ^ b); }); }

 private:
  template <class F>
  T fold(F combine) const {
    T result = data_[0];
    for (std::size_t i = 1; i < N; ++i) result = combine(result, data_[i]);
    return result;
  }
};

}  // namespace hls
