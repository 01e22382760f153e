// op_g: g[n0, n1] = f(h[n0, n1], b[n1]). 12 iterations, one every cycle, 16 points side by side.
//   reads h: itensor<1x16xf32, iter_space: [3,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
//   reads b: itensor<16xf32, iter_space: [3]*[16], iter_map: (d0)->(d0)>
//   writes g: itensor<1x16xf32, iter_space: [3,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
void op_g(hls::stream<f32x16>& h, hls::stream<f32x16>& b, hls::stream<f32x16>& g) {
  f32x16 b_token;
  for (int n1 = 0; n1 < 3; ++n1) {
    for (int n0 = 0; n0 < 4; ++n0) {
#pragma HLS pipeline II=1 style=flp
      const f32x16 h_token = h.read();
      if (n0 == 0) {
        b_token = b.read();
      }
      f32x16 g_token;
      for (int n1_lane = 0; n1_lane < 16; ++n1_lane) {
#pragma HLS unroll
        const float sum = h_token[n1_lane] + b_token[n1_lane];
        const float product = sum * sum;
        const float product_1 = product * sum;
        const float product_2 = product_1 * 0.044715f;
        const float sum_1 = sum + product_2;
        const float product_3 = sum_1 * 0.797884561f;
        const float hyperbolic = hls::tanh(product_3);
        const float sum_2 = hyperbolic + 1.0f;
        const float product_4 = sum * 0.5f;
        const float product_5 = product_4 * sum_2;
        g_token[n1_lane] = product_5;
      }
      g.write(g_token);
    }
  }
}

