// Re-orders tokens: both sides walk the outer 3 iterations alike, so a box of 4x16 is kept, twice: one half fills
// while the other drains. 16 iterations, one every cycle.
//   reads in: itensor<4x4xf32, iter_space: [3,4]*[16,4], iter_map: (d0,d1)->(0,d0+d1)>
//   writes out: itensor<1x16xf32, iter_space: [3,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
void convert_h_to_op_g_in0(hls::stream<f32x16>& in, hls::stream<f32x16>& out) {
  float buffer[2][4][16];
#pragma HLS array_partition variable=buffer type=complete dim=0
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=1 dependent=true
  ap_uint<2> fill0 = 0;
  ap_uint<2> drain0 = 0;
  for (int round = 0; round < 4; ++round) {
    for (int t = 0; t < 4; ++t) {
#pragma HLS pipeline II=1 style=flp
      f32x16 came;
      if (round < 3) {
        came = in.read();
      }
      if (round >= 1) {
        f32x16 token;
        for (int e1 = 0; e1 < 16; ++e1) {
#pragma HLS unroll
          token[e1] = buffer[(round + 1) % 2][drain0][e1];
        }
        out.write(token);
        drain0 = drain0 == 3 ? 0 : int(drain0) + 1;
      }
      if (round < 3) {
        for (int e0 = 0; e0 < 4; ++e0) {
#pragma HLS unroll
          for (int e1 = 0; e1 < 4; ++e1) {
#pragma HLS unroll
            buffer[round % 2][e0][fill0 * 4 + e1] = came[e0 * 4 + e1];
          }
        }
        fill0 = fill0 == 3 ? 0 : int(fill0) + 1;
      }
    }
  }
}

