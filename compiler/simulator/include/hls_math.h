// The functions of hls_math.h on float and double, in the precision of the C++ standard library.
#pragma once

#include <cmath>
#include <type_traits>

namespace hls {

#define MILLRACE_MATH1(NAME)                                  \
  inline float NAME(float x) { return std::NAME(x); }         \
  inline double NAME(double x) { return std::NAME(x); }       \
  inline float NAME##f(float x) { return std::NAME(x); }
MILLRACE_MATH1(exp)
MILLRACE_MATH1(exp2)
MILLRACE_MATH1(expm1)
MILLRACE_MATH1(log)
MILLRACE_MATH1(log2)
MILLRACE_MATH1(log10)
MILLRACE_MATH1(log1p)
MILLRACE_MATH1(sqrt)
MILLRACE_MATH1(cbrt)
MILLRACE_MATH1(sin)
MILLRACE_MATH1(cos)
MILLRACE_MATH1(tan)
MILLRACE_MATH1(atan)
MILLRACE_MATH1(sinh)
MILLRACE_MATH1(cosh)
MILLRACE_MATH1(tanh)
MILLRACE_MATH1(erf)
MILLRACE_MATH1(erfc)
MILLRACE_MATH1(rint)
MILLRACE_MATH1(round)
MILLRACE_MATH1(floor)
MILLRACE_MATH1(ceil)
MILLRACE_MATH1(trunc)
MILLRACE_MATH1(fabs)
#undef MILLRACE_MATH1

#define MILLRACE_MATH2(NAME)                                            \
  inline float NAME(float x, float y) { return std::NAME(x, y); }       \
  inline double NAME(double x, double y) { return std::NAME(x, y); }    \
  inline float NAME##f(float x, float y) { return std::NAME(x, y); }
MILLRACE_MATH2(pow)
MILLRACE_MATH2(fmax)
MILLRACE_MATH2(fmin)
MILLRACE_MATH2(fmod)
MILLRACE_MATH2(atan2)
MILLRACE_MATH2(copysign)
#undef MILLRACE_MATH2

inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrtf(float x) { return rsqrt(x); }
inline float recip(float x) { return 1.0f / x; }
inline double recip(double x) { return 1.0 / x; }
inline float recipf(float x) { return recip(x); }
inline float fma(float x, float y, float z) { return std::fma(x, y, z); }
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }
inline long lrint(float x) { return std::lrint(x); }
inline long lrint(double x) { return std::lrint(x); }
inline bool isnan(float x) { return std::isnan(x); }
inline bool isinf(float x) { return std::isinf(x); }

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
inline T abs(T x) {
  return x < T(0) ? T(-x) : x;
}
template <class T>
inline T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline T min(T a, T b) {
  return b < a ? b : a;
}

}  // namespace hls
