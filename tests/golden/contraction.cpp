// op_y: y[n0, n1] = sum over k0 of g[n0, k0] * v[k0, n1]. 72 iterations, one every 5 cycles, 64 points side by side.
//   reads g: itensor<4x4xf32, iter_space: [3,3,4]*[1,16,4], iter_map: (d0,d1,d2)->(0,d1+d2)>
//   reads v: itensor<4x4xf32, iter_space: [3,3,4,2]*[8,16,4,4], iter_map: (d0,d1,d2,d3)->(d1+d2,d0+d3)>
//   writes y: itensor<4x4xf32, iter_space: [3,2]*[8,4], iter_map: (d0,d1)->(0,d0+d1)>
void op_y(hls::stream<f32x16>& g, hls::stream<f32x16>& v, hls::stream<f32x16>& y) {
  f32x16 g_token;
  float acc[2][4][4];
#pragma HLS array_partition variable=acc type=complete dim=2
#pragma HLS array_partition variable=acc type=complete dim=3
#pragma HLS bind_storage variable=acc type=ram_s2p impl=lutram
#pragma HLS dependence variable=acc type=inter direction=RAW distance=2 dependent=true
  for (int n1_tile = 0; n1_tile < 3; ++n1_tile) {
    for (int k0_tile = 0; k0_tile < 3; ++k0_tile) {
      for (int k0 = 0; k0 < 4; ++k0) {
        for (int n1 = 0; n1 < 2; ++n1) {
#pragma HLS pipeline II=5 style=flp
          if (n1 == 0) {
            g_token = g.read();
          }
          const f32x16 v_token = v.read();
          f32x16 y_token;
          for (int n0_lane = 0; n0_lane < 4; ++n0_lane) {
#pragma HLS unroll
            for (int n1_lane = 0; n1_lane < 4; ++n1_lane) {
#pragma HLS unroll
              float terms[4];
#pragma HLS array_partition variable=terms type=complete
              for (int k0_lane = 0; k0_lane < 4; ++k0_lane) {
#pragma HLS unroll
                const float product = g_token[n0_lane * 4 + k0_lane] * v_token[k0_lane * 4 + n1_lane];
                terms[k0_lane] = product;
              }
              const float partial = reduce_tree<Add>(terms);
              const float total = k0_tile == 0 && k0 == 0 ? partial : acc[n1][n0_lane][n1_lane] + partial;
              acc[n1][n0_lane][n1_lane] = total;
              y_token[n0_lane * 4 + n1_lane] = total;
            }
          }
          if (k0_tile == 2 && k0 == 3) {
            y.write(y_token);
          }
        }
      }
    }
  }
}

