// What the stand-in headers promise. Without an argument: checks, silent when they hold; with one: a run that fails.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "ap_int.h"
#include "hls_burst_maxi.h"
#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"

#define CHECK(condition) \
  if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition), std::exit(1)

typedef hls::stream<int> Ints;

static void count(Ints& out, int n) {
  for (int i = 0; i < n; ++i) out.write(i);
}
static void add(Ints& in, Ints& out, int n, int offset) {
  for (int i = 0; i < n; ++i) out.write(in.read() + offset);
}
static void sum(Ints& in, int n, int* result) {
  *result = 0;
  for (int i = 0; i < n; ++i) *result += in.read();
}
static void sum_polling(Ints& in, int n, int* result) {
  for (int token, left = n; left > 0;)
    if (in.read_nb(token)) *result += token, --left;
}
static void count_polling(Ints& out, int n) {
  for (int i = 0; i < n;)
    if (!out.full()) out << i++;
}
static void nested(Ints& out, int n) {
  int total;
  {
    hls::stream<int, 3> inner("inner");
    millrace::task("count", count)(inner, n);
    millrace::task("sum", sum)(inner, n, &total);
  }
  out.write(total);
}

static void vectors() {
  typedef hls::vector<float, 8> F;
  static_assert(sizeof(F) == 32 && alignof(F) == 32);
  static_assert(sizeof(hls::vector<float, 3>) == 12 && alignof(hls::vector<float, 3>) == 4);
  static_assert(sizeof(hls::vector<ap_int<4>, 6>) == 6 && alignof(hls::vector<ap_int<4>, 6>) == 2);
  F a, b = 2.0f, zero = 0;
  for (int i = 0; i < 8; ++i) a[i] = float(i);
  CHECK(zero[7] == 0 && (a + b)[3] == 5 && (a * 3.0f)[2] == 6 && (1.0f - a)[4] == -3 && (a / b)[5] == 2.5f);
  CHECK((-a)[6] == -6 && a.reduce_add() == 28 && (a < b)[1] && !(a < b)[2] && a == a && a != b);
  a += b;
  a *= 2;
  CHECK(a[7] == 18);
  hls::vector<ap_int<8>, 4> c = {100, -100, 1, 2}, d = 100;
  CHECK((c + d)[0] == -56 && (c + d)[1] == 0 && (c ^ c)[2] == 0 && (c >> 1)[1] == -50);
}

static void integers() {
  ap_uint<512> word = 0;
  for (int i = 0; i < 128; ++i) word.range(4 * i + 3, 4 * i) = ap_int<4>(i - 64);
  for (int i = 0; i < 128; ++i) CHECK(ap_int<4>(word.range(4 * i + 3, 4 * i)) == ap_int<4>(i - 64));
  CHECK(sizeof(word) == 64 && sizeof(ap_int<4>) == 1 && sizeof(ap_int<12>) == 2 && sizeof(ap_uint<1024>) == 128);
  unsigned char bytes[64];
  std::memcpy(bytes, &word, 64);
  CHECK(bytes[0] == 0x10 && bytes[3] == 0x76);
  word(255, 192) = 0x0123456789abcdefULL;
  CHECK(word(255, 192).to_uint64() == 0x0123456789abcdefULL && (ap_uint<64>)(word(223, 160) >> 0) != 0);
  ap_int<8> x = 127;
  int table[200] = {}, y = x * 2;
  table[ap_uint<8>(150)] = 1;
  CHECK(y == 254 && ++x == -128 && table[150] == 1 && x * 0.5f == -64 && float(x) == -128 && ap_int<8>(-3.7f) == -3);
  ap_int<32> accumulator = 0;
  for (int i = 0; i < 10; ++i) accumulator += ap_int<4>(-8) * ap_int<8>(-128);
  CHECK(accumulator == 10240);
}

static void math() {
  CHECK(hls::exp(1.0f) == std::exp(1.0f) && hls::expf(0) == 1 && hls::rsqrt(4.0f) == 0.5f && hls::recip(4.0f) == 0.25f);
  CHECK(hls::rint(2.5f) == 2 && hls::round(2.5f) == 3 && hls::fmax(1.0f, 2.0f) == 2 && hls::tanhf(0) == 0);
  CHECK(hls::erf(0.5f) == std::erf(0.5f) && hls::abs(-3) == 3 && hls::max(3, 4) == 4 && hls::pow(2.0f, 3.0f) == 8);
}

static void streams() {
  {
    hls::stream<int, 3> s("plain");
    int token = 0;
    CHECK(s.empty() && !s.full() && s.capacity() == 3 && Ints("default").capacity() == 2 && !s.read_nb(token));
    s << 1;
    s.write(2);
    CHECK(s.write_nb(3) && !s.write_nb(4) && s.full() && s.size() == 3);
    s >> token;
    CHECK(token == 1 && s.read() == 2 && s.read_nb(token) && token == 3 && s.empty());
  }
  int total = 0;
  {  // Arguments count at the call; a task may be called several times; streams may be arrays.
    hls::stream<int, 1> chain[3];
    int n = 1000, offset = 1;
    millrace::task("count", count)(chain[0], n);
    millrace::task("add", add)(chain[0], chain[1], n, offset);
    offset = 2;
    millrace::task("add", add)(chain[1], chain[2], n, offset);
    millrace::task("sum", sum)(chain[2], n, &total);
    n = 0;
    CHECK(total == 0);
  }
  CHECK(total == 999 * 500 + 3000);
  {
    hls::stream<int, 2> s("polled");
    total = 0;
    millrace::task("sum_polling", sum_polling)(s, 50, &total);
    millrace::task("count_polling", count_polling)(s, 50);
  }
  CHECK(total == 49 * 25);
  {
    hls::stream<int, 2> s("outer");
    millrace::task("nested", nested)(s, 10);
    millrace::task("sum", sum)(s, 1, &total);
  }
  CHECK(total == 45);
  millrace::task("plain", +[](int* result) { *result = 7; })(&total);
  CHECK(total == 7);
}

[[gnu::noinline]] static char use_large_array(int step) {
  volatile char large[80 << 20];
  for (int i = 0; i < 80 << 20; i += step) large[i] = char(i);
  return large[step];
}

// Writes 1 2 to memory, says so before the answer or after it, and goes on.
static void put(hls::burst_maxi<int> memory, Ints& said, int early) {
  memory.write_request(0, 2);
  memory.write(1);
  memory.write(2);
  if (early) said.write(0);
  memory.write_response();
  if (!early) said.write(0);
}
static void get(hls::burst_maxi<int> memory, Ints& said, int* sum) {
  said.read();
  memory.read_request(0, 1);
  memory.read_request(1, 1);
  *sum = memory.read();
  *sum += memory.read();
}
static void memory() {
  for (int early : {0, 1}) {
    int words[2] = {10, 20}, sum = 0;
    {
      hls::stream<int, 1> said("said");
      millrace::task("put", put)(words, said, early);
      millrace::task("get", get)(words, said, &sum);
    }
    CHECK(sum == (early ? 30 : 3) && words[0] == 1 && words[1] == 2);
  }
}

static void failing(Ints&, const char* how) {
  std::string name = how;
  ap_int<8> x = 1, zero = 0;
  if (name == "range") x = x.range(8, 1);
  if (name == "divide") x = x / zero;
  if (name == "crash") *(volatile int*)nullptr = 1;
  if (name == "throw") throw std::runtime_error("no \"reason\"");
  int words[2] = {};
  hls::burst_maxi<int> port(words);
  if (name == "no request to read") port.read();
  if (name == "no request to write") port.write(1);
  if (name == "no write") port.write_response();
  if (name == "unread") hls::burst_maxi<int>(words).read_request(0, 2);
  if (name == "too many")
    for (int request = 0; request < 6; ++request) port.read_request(0, 1);
  if (name == "unanswered") hls::burst_maxi<int>(words).write_request(0, 0);
  if (name == "too early") {
    port.write_request(0, 2);
    port.write_response();
  }
  if (name == "stack") std::printf("%d\n", use_large_array(1 << 20));
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::string name = argv[1];
    int result;
    hls::stream<int, 4> s("s");
    if (name == "alone") s.read();
    if (name == "readers")
      for (int i = 0; i < 2; ++i) millrace::task("sum", sum)(s, 1, &result);
    else if (name == "three")
      for (int i = 0; i < 3; ++i) millrace::task("sum", sum)(s, 1, &result);
    else
      millrace::task("failing", failing)(s, argv[1]);
    return 0;
  }
  vectors();
  integers();
  math();
  memory();
  streams();
  return 0;
}
