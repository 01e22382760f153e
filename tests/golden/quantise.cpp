// op_q: q[n0, n1, n2] = f(x[n0, n1, n2], inverse). 6 iterations, one every cycle, 16 points side by side.
//   reads x: itensor<1x1x16xf32, iter_space: [3,2]*[1,1], iter_map: (d0,d1)->(d0,d1,0)>
//   writes q: itensor<1x1x16xi8, iter_space: [3,2]*[1,1], iter_map: (d0,d1)->(d0,d1,0)>
void op_q(hls::stream<f32x16>& x, hls::stream<i8x16>& q, float inverse) {
  for (int n0 = 0; n0 < 3; ++n0) {
    for (int n1 = 0; n1 < 2; ++n1) {
#pragma HLS pipeline II=1 style=flp
      const f32x16 x_token = x.read();
      i8x16 q_token;
      for (int n2_lane = 0; n2_lane < 16; ++n2_lane) {
#pragma HLS unroll
        const float product = x_token[n2_lane] * inverse;
        const float rounded = hls::rint(product);
        const float smaller = hls::fmin(rounded, 127.0f);
        const float larger = hls::fmax(smaller, -128.0f);
        q_token[n2_lane] = ap_int<8>(int(larger));
      }
      q.write(q_token);
    }
  }
}

