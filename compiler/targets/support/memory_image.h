// Memory images of the testbench: what the host program puts into and takes out of HBM.
#pragma once

#include <ap_int.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "stream_pack.h"

typedef std::vector<ap_uint<PORT_BITS> > MemoryImage;
const int WORD_BYTES = PORT_BITS / 8;

// The design directory: the nearest above the folder of `program`, as it was called, else above the working folder. The
// tools put both some levels below hls/.
inline std::string find_design(const std::string& program) {
  const std::size_t slash = program.rfind('/');
  const std::string starts[] = {slash == std::string::npos ? "." : program.substr(0, slash), "."};
  for (int start = 0; start < 2; ++start) {
    std::string folder = starts[start];
    for (int level = 0; level < 10; ++level, folder += "/..") {
      if (std::FILE* manifest = std::fopen((folder + "/params/manifest.json").c_str(), "rb")) {
        std::fclose(manifest);
        return folder;
      }
    }
  }
  std::fprintf(stderr, "no folder above %s holds params/manifest.json; give the design directory as first argument\n",
               program.c_str());
  std::exit(2);
}

// The value of NAME=VALUE among the program's arguments, `most` where there is none; it must be 0 to `most`.
inline int launch_argument(int argc, char** argv, const std::string& name, int most) {
  const std::string begin = name + "=";
  for (int i = 1; i < argc; ++i) {
    const std::string given = argv[i];
    if (given.compare(0, begin.size(), begin) != 0) continue;
    char* end = 0;
    const long value = std::strtol(given.c_str() + begin.size(), &end, 10);
    if (given.size() > begin.size() && *end == 0 && value >= 0 && value <= most) return int(value);
    std::fprintf(stderr, "%s can not be used; %s must be 0 to %d\n", argv[i], name.c_str(), most);
    std::exit(2);
  }
  return most;
}

inline std::FILE* open_or_exit(const std::string& path, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (!file) {
    std::fprintf(stderr, "can not open %s: %s; give the design directory as first argument\n", path.c_str(),
                 std::strerror(errno));
    std::exit(2);
  }
  return file;
}

inline std::vector<unsigned char> read_bytes(const std::string& path, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  std::FILE* file = open_or_exit(path, "rb");
  if (std::fread(bytes.data(), 1, size, file) != size) {
    std::fprintf(stderr, "%s is shorter than %zu bytes; emit the design again\n", path.c_str(), size);
    std::exit(2);
  }
  std::fclose(file);
  return bytes;
}

inline MemoryImage read_image(const std::string& path, std::size_t words) {
  const std::vector<unsigned char> bytes = read_bytes(path, words * WORD_BYTES);
  MemoryImage image(words);
  for (std::size_t w = 0; w < words; ++w) {
    for (int limb = 0; limb < WORD_BYTES / 8; ++limb) {
      uint64_t bits;
      std::memcpy(&bits, &bytes[w * WORD_BYTES + limb * 8], 8);
      image[w].range(64 * limb + 63, 64 * limb) = ap_uint<64>(bits);
    }
  }
  return image;
}

inline void write_image(const std::string& path, const MemoryImage& image) {
  std::FILE* file = open_or_exit(path, "wb");
  for (std::size_t w = 0; w < image.size(); ++w) {
    for (int limb = 0; limb < WORD_BYTES / 8; ++limb) {
      const uint64_t bits = image[w].range(64 * limb + 63, 64 * limb).to_uint64();
      std::fwrite(&bits, 8, 1, file);
    }
  }
  std::fclose(file);
}

// Scalar number `index` of params/scalars.bin, four bytes each.
template <typename T>
T scalar(const std::vector<unsigned char>& bytes, int index) {
  T value;
  std::memcpy(&value, &bytes[4 * index], 4);
  return value;
}
