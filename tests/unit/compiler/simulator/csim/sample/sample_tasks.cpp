#include "sample_tasks.h"

static float to_float(ap_uint<32> bits) {
  unsigned raw = bits;
  float value;
  std::memcpy(&value, &raw, sizeof value);
  return value;
}

static ap_uint<32> to_bits(float value) {
  unsigned raw;
  std::memcpy(&raw, &value, sizeof raw);
  return raw;
}

void load_x(const ap_uint<512>* mem, hls::stream<f32x4>& out) {
  for (int row = 0; row < ROWS; ++row) {
    for (int k = 0; k < 4; ++k) {
#pragma HLS pipeline II = 1 style = flp
      ap_uint<512> word = mem[row];
      f32x4 token;
      for (int i = 0; i < 4; ++i) {
#pragma HLS unroll
        token[i] = to_float(word.range(128 * k + 32 * i + 31, 128 * k + 32 * i));
      }
      out.write(token);
    }
  }
}

void fork_x(hls::stream<f32x4>& in, hls::stream<f32x4>& out0, hls::stream<f32x4>& out1) {
  for (int t = 0; t < 4 * ROWS; ++t) {
    f32x4 token = in.read();
    out0.write(token);
    out1.write(token);
  }
}

void reduce_sum(hls::stream<f32x4>& in, hls::stream<float>& out) {
  for (int row = 0; row < ROWS; ++row) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      f32x4 token = in.read();
      for (int i = 0; i < 4; ++i) sum += token[i];
    }
    out.write(sum);
  }
}

void load_w(const ap_uint<512>* mem, hls::stream<i4x4>& out, int words) {
  for (int w = 0; w < words; ++w) {
    ap_uint<512> word = mem[w];
    for (int k = 0; k < 32; ++k) {
      i4x4 token;
      for (int i = 0; i < 4; ++i) token[i] = word.range(16 * k + 4 * i + 3, 16 * k + 4 * i);
      out.write(token);
    }
  }
}

void scale(hls::stream<f32x4>& in, hls::stream<float>& sum, hls::stream<i4x4>& weight, hls::stream<f32x4>& out,
           float gain) {
  for (int row = 0; row < ROWS; ++row) {
    float factor = gain / sum.read();
    for (int k = 0; k < 4; ++k) {
      f32x4 token = in.read();
      i4x4 w = weight.read();
      for (int i = 0; i < 4; ++i) token[i] *= factor * (float)w[i];
      out.write(token);
    }
  }
}

void store_y(hls::stream<f32x4>& in, ap_uint<512>* mem, int rows) {
  for (int row = 0; row < rows; ++row) {
    ap_uint<512> word = 0;
    for (int k = 0; k < 4; ++k) {
      f32x4 token = in.read();
      for (int i = 0; i < 4; ++i) word.range(128 * k + 32 * i + 31, 128 * k + 32 * i) = to_bits(token[i]);
    }
    mem[row] = word;
  }
}
