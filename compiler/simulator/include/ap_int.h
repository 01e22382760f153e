// Arbitrary-width integers under the names of Vitis HLS, for building synthesizable code with a plain C++17 compiler.
//
// Up to 64 bits a value lives in the smallest native integer that holds it, wrapped or sign-extended to its width;
// above, it is an array of 64-bit limbs, least significant first, so a buffer of ap_uint<512> has the byte layout of
// the memory it models. Results of operators have the exact widths that Vitis gives them; division is defined for
// operands of up to 64 bits. Unlike in Vitis, a range() outside the value is an error in every build, and a signed number
// compares with an unsigned one, or is divided by it, by their values: the simulation of Vitis converts as C does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include "millrace/fail.h"

namespace millrace {

template <int W, bool S, bool Wide = (W > 64)>
class Integer;

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

namespace detail {

template <int W, bool S>
struct Native {
  using type = std::conditional_t<
      W <= 8, std::conditional_t<S, int8_t, uint8_t>,
      std::conditional_t<W <= 16, std::conditional_t<S, int16_t, uint16_t>,
                         std::conditional_t<W <= 32, std::conditional_t<S, int32_t, uint32_t>,
                                            std::conditional_t<S, long long, unsigned long long>>>>;
};
template <>
struct Native<1, false> {
  using type = bool;
};

/// Unsigned machine word in which arithmetic modulo 2^W is done.
template <int W>
using Word = std::conditional_t<W <= 32, uint32_t, uint64_t>;

template <class T>
struct Operand : std::false_type {};
template <int W, bool S, bool Wide>
struct Operand<Integer<W, S, Wide>> : std::true_type {
  static constexpr int width = W;
  static constexpr bool sign = S;
};

template <class T, bool = std::is_integral_v<T>>
struct Number : Operand<T> {};
template <class T>
struct Number<T, true> : std::true_type {
  static constexpr int width = std::is_same_v<T, bool> ? 1 : 8 * int(sizeof(T));
  static constexpr bool sign = std::is_signed_v<T>;
};

template <class A, class B>
inline constexpr bool operands = (Operand<A>::value || Operand<B>::value) && Number<A>::value && Number<B>::value;

constexpr int max(int a, int b) { return a > b ? a : b; }
constexpr int min(int a, int b) { return a < b ? a : b; }

/// Result types of a binary operator, as Vitis defines them.
template <class A, class B>
struct Result {
  static constexpr int wa = Number<A>::width, wb = Number<B>::width;
  static constexpr bool sa = Number<A>::sign, sb = Number<B>::sign;
  static constexpr int common = max(wa + (sb && !sa), wb + (sa && !sb));
  using plus = Integer<common + 1, sa || sb>;
  using minus = Integer<common + 1, true>;
  using times = Integer<wa + wb, sa || sb>;
  using logic = Integer<common, sa || sb>;
  using quotient = Integer<wa + sb, sa || sb>;
  using remainder = Integer<min(wa, wb + (!sb && sa)), sa>;
};

constexpr uint64_t low_mask(int bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

inline void check_range(int width, int hi, int lo) {
  if (__builtin_expect(lo < 0 || hi < lo || hi >= width, 0))
    fail("range(%d, %d) is outside an integer of %d bits", hi, lo, width);
}

}  // namespace detail

/// Bits hi..lo of `T`, read as an unsigned number, written by assignment.
template <class T>
class RangeRef {
  T& value_;
  int lo_, bits_;

 public:
  RangeRef(T& value, int hi, int lo) : value_(value), lo_(lo), bits_(hi - lo + 1) {
    detail::check_range(T::width, hi, lo);
  }
  RangeRef(const RangeRef&) = default;

  int length() const { return bits_; }
  /// Up to 64 bits of the range from bit `from` on; zero past its end.
  uint64_t extract(int from = 0) const {
    return from >= bits_ ? 0 : value_.extract(lo_ + from, detail::min(64, bits_ - from));
  }

  operator unsigned long long() const { return extract(); }
  int to_int() const { return int(extract()); }
  unsigned to_uint() const { return unsigned(extract()); }
  long long to_int64() const { return (long long)extract(); }
  unsigned long long to_uint64() const { return extract(); }

  RangeRef& operator=(const RangeRef& other) { return assign(other); }
  template <class U>
  RangeRef& operator=(const RangeRef<U>& other) {
    return assign(other);
  }
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  RangeRef& operator=(I value) {
    value_.deposit(lo_, detail::min(64, bits_), uint64_t(value));
    for (int from = 64; from < bits_; from += 64)
      value_.deposit(lo_ + from, detail::min(64, bits_ - from), value < I(0) ? ~uint64_t(0) : 0);
    return *this;
  }
  template <int W, bool S, bool Wide>
  RangeRef& operator=(const Integer<W, S, Wide>& value) {
    for (int from = 0; from < bits_; from += 64)
      value_.deposit(lo_ + from, detail::min(64, bits_ - from), value.limb(from / 64));
    return *this;
  }

 private:
  template <class U>
  RangeRef& assign(const RangeRef<U>& other) {
    for (int from = 0; from < bits_; from += 64)
      value_.deposit(lo_ + from, detail::min(64, bits_ - from), other.extract(from));
    return *this;
  }
};

/// One bit of `T`.
template <class T>
class BitRef {
  T& value_;
  int bit_;

 public:
  BitRef(T& value, int bit) : value_(value), bit_(bit) { detail::check_range(T::width, bit, bit); }
  BitRef(const BitRef&) = default;
  operator bool() const { return value_.extract(bit_, 1) != 0; }
  bool to_bool() const { return *this; }
  BitRef& operator=(bool value) {
    value_.deposit(bit_, 1, value);
    return *this;
  }
  BitRef& operator=(const BitRef& other) { return *this = bool(other); }
};

/// What narrow and wide integers share: bit access, conversions by name, compound assignment.
template <class Self, int W, bool S>
class IntegerBase {
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }

 public:
  static constexpr int width = W;
  static constexpr bool sign_flag = S;
  static constexpr int length() { return W; }

  RangeRef<Self> range(int hi, int lo) { return {self(), hi, lo}; }
  RangeRef<const Self> range(int hi, int lo) const { return {self(), hi, lo}; }
  RangeRef<Self> range() { return {self(), W - 1, 0}; }
  RangeRef<const Self> range() const { return {self(), W - 1, 0}; }
  RangeRef<Self> operator()(int hi, int lo) { return {self(), hi, lo}; }
  RangeRef<const Self> operator()(int hi, int lo) const { return {self(), hi, lo}; }
  BitRef<Self> operator[](int bit) { return {self(), bit}; }
  bool operator[](int bit) const { return test(bit); }
  BitRef<Self> bit(int bit) { return {self(), bit}; }
  bool test(int bit) const { return BitRef<const Self>(self(), bit); }
  bool get_bit(int bit) const { return test(bit); }
  void set_bit(int bit, bool value) { BitRef<Self>(self(), bit) = value; }

  /// The bits of this number above those of `low`, to be read; in Vitis it can be assigned to as well.
  template <int W2, bool S2, bool Wide2>
  constexpr Integer<W + W2, false> concat(const Integer<W2, S2, Wide2>& low) const {
    using Result = Integer<W + W2, false>;
    return (Result(Integer<W, false>(self())) << W2) | Result(Integer<W2, false>(low));
  }

  bool to_bool() const { return self() != 0; }
  int to_int() const { return int(self().limb(0)); }
  unsigned to_uint() const { return unsigned(self().limb(0)); }
  long to_long() const { return long(self().limb(0)); }
  long long to_int64() const { return (long long)self().limb(0); }
  unsigned long long to_uint64() const { return self().limb(0); }

#define MILLRACE_COMPOUND(OP)                 \
  template <class T>                          \
  constexpr Self& operator OP##=(const T& other) { \
    return self() = Self(self() OP other);    \
  }
  MILLRACE_COMPOUND(+)
  MILLRACE_COMPOUND(-)
  MILLRACE_COMPOUND(*)
  MILLRACE_COMPOUND(/)
  MILLRACE_COMPOUND(%)
  MILLRACE_COMPOUND(&)
  MILLRACE_COMPOUND(|)
  MILLRACE_COMPOUND(^)
  MILLRACE_COMPOUND(<<)
  MILLRACE_COMPOUND(>>)
#undef MILLRACE_COMPOUND

  constexpr Self& operator++() { return self() += 1; }
  constexpr Self& operator--() { return self() -= 1; }
  constexpr Self operator++(int) {
    Self old = self();
    ++self();
    return old;
  }
  constexpr Self operator--(int) {
    Self old = self();
    --self();
    return old;
  }
};

/// Up to 64 bits.
template <int W, bool S>
class Integer<W, S, false> : public IntegerBase<Integer<W, S, false>, W, S> {
  static_assert(W >= 1, "an integer has at least one bit");

 public:
  using native = typename detail::Native<W, S>::type;

 private:
  native value_;

  template <class I>
  static constexpr native wrap(I bits) {
    using Word = detail::Word<W>;
    if constexpr (W == 8 * int(sizeof(native))) return native(bits);
    if constexpr (!S) return native(Word(bits) & Word(detail::low_mask(W)));
    constexpr int unused = 8 * int(sizeof(Word)) - W;
    return native(std::make_signed_t<Word>(Word(bits) << unused) >> unused);
  }
  template <class F>
  static native from_float(F value) {
    // Without <cmath>, which takes a small source as long as all the rest.
    const F size = value < 0 ? -value : value;
    if (size < F(9223372036854775808.0)) return wrap((long long)value);
    if (!__builtin_isfinite(value)) return 0;
    auto rest = __builtin_fmodl(__builtin_truncl(size), 18446744073709551616.0L);
    return wrap(value < 0 ? -uint64_t(rest) : uint64_t(rest));
  }

 public:
  Integer() = default;
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  constexpr Integer(I value) : value_(wrap(value)) {}
  template <class F, std::enable_if_t<std::is_floating_point_v<F>, int> = 0, class = void>
  Integer(F value) : value_(from_float(value)) {}
  template <int W2, bool S2>
  constexpr Integer(const Integer<W2, S2, false>& other) : value_(wrap(typename Integer<W2, S2>::native(other))) {}
  template <int W2, bool S2>
  Integer(const Integer<W2, S2, true>& other) : value_(wrap(other.limb(0))) {}
  template <class T>
  Integer(const RangeRef<T>& range) : value_(wrap(range.extract())) {}
  template <class T>
  Integer(const BitRef<T>& bit) : value_(wrap(bool(bit))) {}

  /// A value that is known to fit.
  template <class I>
  static constexpr Integer exact(I value) {
    Integer result{};
    result.value_ = native(value);
    return result;
  }

  constexpr operator native() const { return value_; }

  uint64_t extract(int lo, int bits) const { return (uint64_t(value_) >> lo) & detail::low_mask(bits); }
  void deposit(int lo, int bits, uint64_t value) {
    uint64_t mask = detail::low_mask(bits) << lo;
    value_ = wrap((uint64_t(value_) & ~mask) | ((value << lo) & mask));
  }
  /// Limb `index` of the value, sign-extended past its end.
  constexpr uint64_t limb(int index) const {
    if (index == 0) return uint64_t(value_);
    return S && uint64_t(value_) >> 63 ? ~uint64_t(0) : 0;
  }
};

/// More than 64 bits.
template <int W, bool S>
class Integer<W, S, true> : public IntegerBase<Integer<W, S, true>, W, S> {
 public:
  static constexpr int limbs = (W + 63) / 64;
  using native = std::conditional_t<S, long long, unsigned long long>;

 private:
  uint64_t limb_[limbs];

  template <class T>
  constexpr void copy_limbs(const T& source) {
    for (int i = 0; i < limbs; ++i) limb_[i] = source.limb(i);
    wrap();
  }
  constexpr void wrap() {
    if constexpr (W % 64 != 0) {
      constexpr int unused = 64 - W % 64;
      uint64_t top = limb_[limbs - 1] << unused;
      limb_[limbs - 1] = S ? uint64_t((long long)(top) >> unused) : top >> unused;
    }
  }

 public:
  Integer() = default;
  template <class I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
  constexpr Integer(I value) : limb_{} {
    copy_limbs(Integer<detail::Number<I>::width, std::is_signed_v<I>>(value));
  }
  template <int W2, bool S2, bool Wide, std::enable_if_t<W2 != W || S2 != S, int> = 0>
  constexpr Integer(const Integer<W2, S2, Wide>& other) : limb_{} {
    copy_limbs(other);
  }
  template <class T>
  Integer(const RangeRef<T>& range) {
    for (int i = 0; i < limbs; ++i) limb_[i] = range.extract(64 * i);
    wrap();
  }
  template <class T>
  Integer(const BitRef<T>& bit) : Integer(bool(bit)) {}

  /// The low 64 bits, as in Vitis.
  constexpr operator native() const { return native(limb_[0]); }

  uint64_t extract(int lo, int bits) const {
    int index = lo / 64, shift = lo % 64;
    uint64_t value = limb_[index] >> shift;
    if (shift + bits > 64) value |= limb_[index + 1] << (64 - shift);
    return value & detail::low_mask(bits);
  }
  void deposit(int lo, int bits, uint64_t value) {
    int index = lo / 64, shift = lo % 64;
    uint64_t mask = detail::low_mask(bits);
    value &= mask;
    limb_[index] = (limb_[index] & ~(mask << shift)) | (value << shift);
    if (shift + bits > 64)
      limb_[index + 1] = (limb_[index + 1] & ~(mask >> (64 - shift))) | (value >> (64 - shift));
    wrap();
  }
  constexpr uint64_t limb(int index) const {
    return index < limbs ? limb_[index] : S && (long long)(limb_[limbs - 1]) < 0 ? ~uint64_t(0) : 0;
  }

  // Limb-wise arithmetic modulo 2^W; `a` and `b` may have any width.
  template <class A, class B>
  static constexpr Integer sum(const A& a, const B& b, bool subtract) {
    Integer result{};
    uint64_t carry = subtract;
    for (int i = 0; i < limbs; ++i) {
      uint128 total = uint128(a.limb(i)) + (subtract ? ~b.limb(i) : b.limb(i)) + carry;
      result.limb_[i] = uint64_t(total);
      carry = uint64_t(total >> 64);
    }
    result.wrap();
    return result;
  }
  template <class A, class B>
  static constexpr Integer product(const A& a, const B& b) {
    Integer result{};
    for (int i = 0; i < limbs; ++i) {
      uint64_t carry = 0;
      for (int k = 0; i + k < limbs; ++k) {
        uint128 total = uint128(a.limb(i)) * b.limb(k) + result.limb_[i + k] + carry;
        result.limb_[i + k] = uint64_t(total);
        carry = uint64_t(total >> 64);
      }
    }
    result.wrap();
    return result;
  }
  template <class A, class B, class F>
  static constexpr Integer bitwise(const A& a, const B& b, F op) {
    Integer result{};
    for (int i = 0; i < limbs; ++i) result.limb_[i] = op(a.limb(i), b.limb(i));
    result.wrap();
    return result;
  }
  constexpr Integer shifted_left(int amount) const {
    Integer result{};
    int whole = amount / 64, part = amount % 64;
    for (int i = limbs - 1; i >= whole; --i) {
      result.limb_[i] = limb_[i - whole] << part;
      if (part != 0 && i > whole) result.limb_[i] |= limb_[i - whole - 1] >> (64 - part);
    }
    result.wrap();
    return result;
  }
  constexpr Integer shifted_right(int amount) const {
    Integer result{};
    int whole = amount / 64, part = amount % 64;
    for (int i = 0; i < limbs; ++i) {
      result.limb_[i] = limb(i + whole) >> part;
      if (part != 0) result.limb_[i] |= limb(i + whole + 1) << (64 - part);
    }
    result.wrap();
    return result;
  }
};

namespace detail {

template <class T>
constexpr auto number(const T& value) {
  if constexpr (std::is_integral_v<T>)
    return Integer<Number<T>::width, Number<T>::sign>(value);
  else
    return value;
}
template <class W, class T>
constexpr W word(const T& value) {
  if constexpr (std::is_integral_v<T>)
    return W(value);
  else
    return W(typename T::native(value));
}

/// Signed native integer that holds every value of both operands.
template <class A, class B, int Bits = Result<A, B>::common + !(Result<A, B>::sa || Result<A, B>::sb)>
using Signed = std::conditional_t<(Bits <= 32), int32_t, std::conditional_t<(Bits <= 64), int64_t, int128>>;

template <class A, class B>
constexpr int compare_wide(const A& a, const B& b) {
  auto difference = Result<decltype(number(a)), decltype(number(b))>::minus::sum(number(a), number(b), true);
  if ((long long)difference.limb(difference.limbs - 1) < 0) return -1;
  for (int i = 0; i < difference.limbs; ++i)
    if (difference.limb(i) != 0) return 1;
  return 0;
}

template <class T>
constexpr int shift_amount(const T& amount) {
  return int(word<long long>(amount));
}

template <int W, bool S>
constexpr Integer<W, S> shift(const Integer<W, S>& value, int amount) {  // left when positive
  if constexpr (W > 64) {
    if (amount >= W) return 0;
    if (amount > -W) return amount >= 0 ? value.shifted_left(amount) : value.shifted_right(-amount);
    return value.shifted_right(W - 1).shifted_right(1);
  } else {
    if (amount >= W) return 0;
    if (amount >= 0) return Word<W>(typename Integer<W, S>::native(value)) << amount;
    if (!S && -amount >= W) return 0;
    return Integer<W, S>::exact(typename Integer<W, S>::native(value) >> min(-amount, W - 1));
  }
}

}  // namespace detail

#define MILLRACE_BINARY template <class A, class B, std::enable_if_t<detail::operands<A, B>, int> = 0>

#define MILLRACE_ARITHMETIC(OP, RESULT, WIDE)                                                                  \
  MILLRACE_BINARY constexpr auto operator OP(const A& a, const B& b)->typename detail::Result<A, B>::RESULT {  \
    using R = typename detail::Result<A, B>::RESULT;                                                           \
    if constexpr (R::width > 64)                                                                               \
      return R::WIDE;                                                                                          \
    else {                                                                                                     \
      using Word = detail::Word<R::width>;                                                                     \
      return R::exact(Word(detail::word<Word>(a) OP detail::word<Word>(b)));                                   \
    }                                                                                                          \
  }
MILLRACE_ARITHMETIC(+, plus, sum(detail::number(a), detail::number(b), false))
MILLRACE_ARITHMETIC(-, minus, sum(detail::number(a), detail::number(b), true))
MILLRACE_ARITHMETIC(*, times, product(detail::number(a), detail::number(b)))
#define MILLRACE_LIMBWISE(OP) \
  bitwise(detail::number(a), detail::number(b), [](uint64_t x, uint64_t y) { return x OP y; })
MILLRACE_ARITHMETIC(&, logic, MILLRACE_LIMBWISE(&))
MILLRACE_ARITHMETIC(|, logic, MILLRACE_LIMBWISE(|))
MILLRACE_ARITHMETIC(^, logic, MILLRACE_LIMBWISE(^))
#undef MILLRACE_LIMBWISE
#undef MILLRACE_ARITHMETIC

#define MILLRACE_DIVISION(OP, RESULT)                                                                          \
  MILLRACE_BINARY constexpr auto operator OP(const A& a, const B& b)->typename detail::Result<A, B>::RESULT {  \
    static_assert(detail::Number<A>::width <= 64 && detail::Number<B>::width <= 64,                            \
                  "division of integers above 64 bits is not supported; narrow the operands first");           \
    using Wide = detail::Signed<A, B>;                                                                         \
    using Type = std::conditional_t<sizeof(Wide) == 4, int64_t, int128>; /* MIN / -1 must not overflow */      \
    Type divisor = detail::word<Type>(b);                                                                      \
    if (divisor == 0) fail("an integer is divided by zero");                                                   \
    using R = typename detail::Result<A, B>::RESULT;                                                           \
    Type result = detail::word<Type>(a) OP divisor;                                                            \
    if constexpr (R::width <= 64)                                                                              \
      return R::exact(result);                                                                                 \
    else                                                                                                       \
      return R(Integer<64, false>(uint64_t(result))) | R(Integer<64, true>(int64_t(result >> 64))) << 64;      \
  }
MILLRACE_DIVISION(/, quotient)
MILLRACE_DIVISION(%, remainder)
#undef MILLRACE_DIVISION

#define MILLRACE_COMPARISON(OP)                                                             \
  MILLRACE_BINARY constexpr bool operator OP(const A& a, const B& b) {                      \
    if constexpr (detail::Number<A>::width > 64 || detail::Number<B>::width > 64)           \
      return detail::compare_wide(a, b) OP 0;                                               \
    else                                                                                    \
      return detail::word<detail::Signed<A, B>>(a) OP detail::word<detail::Signed<A, B>>(b); \
  }
MILLRACE_COMPARISON(==)
MILLRACE_COMPARISON(!=)
MILLRACE_COMPARISON(<)
MILLRACE_COMPARISON(<=)
MILLRACE_COMPARISON(>)
MILLRACE_COMPARISON(>=)
#undef MILLRACE_COMPARISON

/// Shifts keep the type of the left operand; a negative amount shifts the other way.
MILLRACE_BINARY constexpr auto operator<<(const A& a, const B& b) {
  return detail::shift(detail::number(a), detail::shift_amount(b));
}
MILLRACE_BINARY constexpr auto operator>>(const A& a, const B& b) {
  return detail::shift(detail::number(a), -detail::shift_amount(b));
}
#undef MILLRACE_BINARY

template <int W, bool S, bool Wide>
constexpr Integer<W, S, Wide> operator+(const Integer<W, S, Wide>& a) {
  return a;
}
template <int W, bool S, bool Wide>
constexpr Integer<W + 1, true> operator-(const Integer<W, S, Wide>& a) {
  return Integer<1, false>(0) - a;
}
template <int W, bool S, bool Wide>
constexpr Integer<W, S, Wide> operator~(const Integer<W, S, Wide>& a) {
  return Integer<W, S, Wide>(a ^ Integer<1, true>(-1));
}

/// `(high, low)`: see concat.
template <int W, bool S, bool Wide, int W2, bool S2, bool Wide2>
constexpr Integer<W + W2, false> operator,(const Integer<W, S, Wide>& high, const Integer<W2, S2, Wide2>& low) {
  return high.concat(low);
}

/// Prints the number in decimal; above 64 bits, in hexadecimal.
template <class C, class T, int W, bool S, bool Wide>
std::basic_ostream<C, T>& operator<<(std::basic_ostream<C, T>& out, const Integer<W, S, Wide>& value) {
  if constexpr (!Wide) {
    out << typename Integer<W < 32 ? 32 : W, S>::native(value);
  } else {
    out << "0x";
    for (int bit = (W - 1) / 4 * 4; bit >= 0; bit -= 4)
      out << "0123456789abcdef"[value.range(detail::min(bit + 3, W - 1), bit).extract()];
  }
  return out;
}

}  // namespace millrace

template <int W>
using ap_int = millrace::Integer<W, true>;
template <int W>
using ap_uint = millrace::Integer<W, false>;
