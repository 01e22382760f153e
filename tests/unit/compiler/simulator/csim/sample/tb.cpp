#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sample_k0.h"
#include "sample_k1.h"

static std::vector<ap_uint<512>> load(const char* path, int words) {
  std::vector<ap_uint<512>> data(words);
  FILE* file = std::fopen(path, "rb");
  if (!file || std::fread(data.data(), 64, words, file) != std::size_t(words)) std::printf("cannot read %s\n", path);
  if (file) std::fclose(file);
  return data;
}

// Arguments: the kernel 0 or 1, rows to store, number of runs.
int main(int, char** argv) {
  const int ROWS = 16, rows = std::atoi(argv[2]), runs = std::atoi(argv[3]);
  auto kernel = argv[1][0] == '0' ? sample_k0 : sample_k1;
  auto x = load("x.bin", ROWS), w = load("w.bin", ROWS / 8);
  std::vector<ap_uint<512>> y(ROWS);
  for (int run = 0; run < runs; ++run) kernel(x.data(), w.data(), y.data(), 0.5f, rows);
  FILE* file = std::fopen("y.bin", "wb");
  std::fwrite(y.data(), 64, ROWS, file);
  std::fclose(file);
  return 0;
}
