// Reads cases "<pair> <a hex> <b hex> <shift> <hi> <lo> <eighths>" and prints the result of every operation on the
// pair's types as "<name>=<width><s|u><hex>", a line for each case. test_ap_int.py has the same table of pairs.
#include <cstdio>
#include <cstring>
#include <string>

#include "ap_int.h"

typedef ap_uint<1024> Raw;

template <int W>
void print_bits(const char* name, bool sign, ap_uint<W> bits) {
  std::printf(" %s=%d%c", name, W, sign ? 's' : 'u');
  for (int k = (W - 1) / 4; k >= 0; --k) {
    unsigned digit = 0;
    for (int i = 0; i < 4; ++i)
      if (4 * k + i < W) digit |= unsigned(bool(bits[4 * k + i])) << i;
    std::printf("%x", digit);
  }
}
#ifdef PUBLIC_HEADERS
template <int W, bool S>
void print(const char* name, const ap_int_base<W, S>& value) {
  print_bits<W>(name, S, ap_uint<W>(value));
}
#else
template <int W, bool S, bool Wide>
void print(const char* name, const millrace::Integer<W, S, Wide>& value) {
  print_bits<W>(name, S, ap_uint<W>(value));
}
#endif
void print(const char* name, bool value) { print_bits<1>(name, false, ap_uint<1>(value)); }
void print(const char* name, long long value) { print_bits<64>(name, true, ap_uint<64>(value)); }

template <class T>
struct Width {  // of a native operand
  static constexpr int value = 8 * int(sizeof(T));
};
template <int W>
struct Width<ap_int<W>> {
  static constexpr int value = W;
};
template <int W>
struct Width<ap_uint<W>> {
  static constexpr int value = W;
};

static Raw parse(const char* text) {
  Raw value = 0;
  for (; *text; ++text) value = (value << 4) | Raw(*text <= '9' ? *text - '0' : *text - 'a' + 10);
  return value;
}

template <class A, class B>
void check(const Raw& raw_a, const Raw& raw_b, int shift, int hi, int lo, int eighths) {
  A a = raw_a;
  B b = B(raw_b);
  print("add", a + b);
  print("sub", a - b);
  print("mul", a * b);
  print("and", a & b);
  print("or", a | b);
  print("xor", a ^ b);
  print("neg", -a);
  print("not", ~a);
  print("shl", a << shift);
  print("shr", a >> shift);
  print("lt", a < b);
  print("le", a <= b);
  print("gt", a > b);
  print("ge", a >= b);
  print("eq", a == b);
  print("ne", a != b);
  print("eqself", a == A(a));
  print("assign", A(b));
  A c = a;
  c += b;
  print("addto", c);
  c = a;
  c <<= 3;
  print("shlto", c);
  c = a;
  print("inc", ++c);
  c = a;
  print("dec", --c);
  c = a;
  print("range", Raw(c.range(hi, lo)));
  print("bit", bool(c[hi]));
  c.range(hi, lo) = b;
  print("setrange", c);
  c = a;
  c.range(hi, lo) = Raw(raw_b).range(hi, lo);
  print("copyrange", c);
  c = a;
  c[lo] = !c[lo];
  print("flip", c);
  print("concat", ap_uint<A::width + 7>((a, ap_uint<7>(raw_b))));
  print("concatmember", ap_uint<A::width + 7>(a.concat(ap_uint<7>(raw_b))));
  print("int64", a.to_int64());
  if constexpr (A::width <= 64) {
    print("fromfloat", A(eighths / 8.0));
    print("native", (long long)a);
    print("floats", A(double(a)) == a || A::width > 53);
    if constexpr (Width<B>::value <= 64) {
      if (b != 0) {
        print("div", a / b);
        print("mod", a % b);
      }
    }
  }
}

int main() {
  using Check = void (*)(const Raw&, const Raw&, int, int, int, int);
  const Check pairs[] = {
      check<ap_uint<1>, ap_uint<1>>,     check<ap_int<4>, ap_int<8>>,       check<ap_uint<4>, ap_int<4>>,
      check<ap_int<8>, ap_int<8>>,       check<ap_uint<8>, ap_int<12>>,     check<ap_int<12>, ap_uint<17>>,
      check<ap_int<16>, ap_uint<16>>,    check<ap_int<32>, ap_int<16>>,     check<ap_uint<32>, ap_int<32>>,
      check<ap_int<33>, ap_uint<31>>,    check<ap_uint<63>, ap_int<5>>,     check<ap_int<64>, ap_uint<64>>,
      check<ap_uint<64>, ap_uint<3>>,    check<ap_int<32>, int>,            check<ap_uint<8>, int>,
      check<ap_int<8>, unsigned char>,   check<ap_int<20>, long long>,      check<ap_uint<7>, bool>,
      check<ap_int<65>, ap_int<8>>,      check<ap_uint<100>, ap_int<100>>,  check<ap_int<128>, ap_uint<64>>,
      check<ap_uint<512>, ap_uint<512>>, check<ap_int<512>, int>,           check<ap_int<40>, ap_uint<130>>,
  };
  char a[512], b[512];
  int pair, shift, hi, lo, eighths;
  while (std::scanf("%d %511s %511s %d %d %d %d", &pair, a, b, &shift, &hi, &lo, &eighths) == 7) {
    pairs[pair](parse(a), parse(b), shift, hi, lo, eighths);
    std::printf("\n");
  }
}
