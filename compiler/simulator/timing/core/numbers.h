#pragma once

#include <cstdint>
#include <limits>

namespace millrace {

using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr i64 NEVER = std::numeric_limits<i64>::max() / 4;
constexpr i64 WINDOW = 1024;  // most cycles of a window: what the FIFOs keep of it stays in the processor's cache

inline i64 ceil_div(i64 a, i64 b) { return a >= 0 ? (a + b - 1) / b : -((-a) / b); }

}  // namespace millrace
