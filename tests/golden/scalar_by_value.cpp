// op_y: y[n0, n1] = f(c[n0, n1], squares[n0], eps, gamma[n1], beta[n1], x[n0, n1]). 5 iterations, one every cycle, 12
// points side by side.
//   reads c: itensor<1x12xf32, iter_space: [5]*[1], iter_map: (d0)->(d0,0)>
//   reads squares: itensor<1xf32, iter_space: [5]*[1], iter_map: (d0)->(d0)>
//   reads gamma: itensor<12xf32, iter_space: []*[], iter_map: ()->(0)>
//   reads beta: itensor<12xf32, iter_space: []*[], iter_map: ()->(0)>
//   reads x: itensor<1x12xf32, iter_space: [5]*[1], iter_map: (d0)->(d0,0)>
//   writes y: itensor<1x12xf32, iter_space: [5]*[1], iter_map: (d0)->(d0,0)>
void op_y(
    hls::stream<f32x12>& c, hls::stream<float>& squares, hls::stream<f32x12>& gamma, hls::stream<f32x12>& beta,
    hls::stream<f32x12>& x, hls::stream<f32x12>& y, float eps) {
  f32x12 gamma_token;
  f32x12 beta_token;
  for (int n0 = 0; n0 < 5; ++n0) {
#pragma HLS pipeline II=1 style=flp
    const f32x12 c_token = c.read();
    const float squares_token = squares.read();
    if (n0 == 0) {
      gamma_token = gamma.read();
      beta_token = beta.read();
    }
    const f32x12 x_token = x.read();
    f32x12 y_token;
    for (int n1_lane = 0; n1_lane < 12; ++n1_lane) {
#pragma HLS unroll
      const float product = squares_token * 0.0833333333f;
      const float sum = product + eps;
      const float inverse_root = hls::rsqrt(sum);
      const float product_1 = c_token[n1_lane] * inverse_root;
      const float product_2 = product_1 * gamma_token[n1_lane];
      const float sum_1 = product_2 + beta_token[n1_lane];
      const float sum_2 = sum_1 + x_token[n1_lane];
      y_token[n1_lane] = sum_2;
    }
    y.write(y_token);
  }
}

