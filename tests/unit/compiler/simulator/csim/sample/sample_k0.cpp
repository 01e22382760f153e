#include "sample_k0.h"

#include "sample_tasks.h"

void sample_k0(const ap_uint<512>* x, const ap_uint<512>* w, ap_uint<512>* y, float gain, int rows) {
#pragma HLS interface m_axi port = x bundle = gmem0
#pragma HLS dataflow
  hls::stream<f32x4, 2> s_x("s_x");
  hls::stream<f32x4, 2> s_sum_in("s_sum_in");
  hls::stream<f32x4, 4> s_bypass("s_bypass");
  hls::stream<float, 2> s_sum("s_sum");
  hls::stream<i4x4, 16> s_w("s_w");
  hls::stream<f32x4, 8> s_y("s_y");
  load_x(x, s_x);
  load_w(w, s_w, ROWS / 8);
  fork_x(s_x, s_sum_in, s_bypass);
  reduce_sum(s_sum_in, s_sum);
  scale(s_bypass, s_sum, s_w, s_y, gain);
  store_y(s_y, y, rows);
}
