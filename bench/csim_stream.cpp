// Nanoseconds per token through one stream; see csim_stream.py.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "ap_int.h"
#include "hls_stream.h"
#include "hls_vector.h"

template <class T>
static void produce(hls::stream<T>& out, long tokens) {
  for (long i = 0; i < tokens; ++i) out.write(T(int(i)));
}

template <class T>
static void consume(hls::stream<T>& in, long tokens, T* last) {
  for (long i = 0; i < tokens; ++i) *last = in.read();
}

template <class T, int DEPTH>
static void measure(const char* name, long tokens) {
  T last;
  auto start = std::chrono::steady_clock::now();
  {
    hls::stream<T, DEPTH> stream("stream");
    millrace::task("produce", produce<T>)(stream, tokens);
    millrace::task("consume", consume<T>)(stream, tokens, &last);
  }
  std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  std::printf("%s,%d,%.2f\n", name, DEPTH, time.count() / double(tokens));
}

// Unpacking, the inner loop of weight loads: nanoseconds per 512-bit word.
static void unpack(long words) {
  static ap_uint<512> memory[1024];
  for (int i = 0; i < 1024; ++i) memory[i] = ap_uint<512>(0x123456789abcdefULL * unsigned(i)) << i % 400;
  int sum = 0;
  auto start = std::chrono::steady_clock::now();
  for (long w = 0; w < words; ++w) {
    hls::vector<ap_int<4>, 128> lanes;
    for (int i = 0; i < 128; ++i) lanes[i] = memory[w % 1024].range(4 * i + 3, 4 * i);
    sum += lanes[int(w) % 128];
  }
  std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  std::printf("unpack a word to 128 ap_int<4> (checksum %d),0,%.2f\n", sum, time.count() / double(words));
}

int main(int, char** argv) {
  long tokens = std::atol(argv[1]);
  measure<int, 4096>("int", tokens);
  measure<int, 64>("int", tokens);
  measure<int, 2>("int (ping-pong)", tokens);
  measure<hls::vector<float, 16>, 64>("vector<float, 16>", tokens);
  measure<hls::vector<float, 16>, 2>("vector<float, 16> (ping-pong)", tokens);
  measure<hls::vector<ap_int<4>, 128>, 64>("vector<ap_int<4>, 128>", tokens);
  unpack(tokens / 16);
}
