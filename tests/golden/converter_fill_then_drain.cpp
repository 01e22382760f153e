// Re-orders tokens: the two sides share no loop, so all of 4x48 is filled, then drained. 48 iterations, one every
// cycle.
//   reads in: itensor<1x16xf32, iter_space: [3,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
//   writes out: itensor<4x4xf32, iter_space: [3,3,4]*[1,16,4], iter_map: (d0,d1,d2)->(0,d1+d2)>
void convert_g_to_op_y_in0(hls::stream<f32x16>& in, hls::stream<f32x16>& out) {
  float buffer[4][48];
#pragma HLS array_partition variable=buffer type=complete dim=0
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=9 dependent=true
  ap_uint<2> fill0 = 0;
  ap_uint<2> fill1 = 0;
  ap_uint<4> drain0 = 0;
  for (int t = 0; t < 48; ++t) {
#pragma HLS pipeline II=1 style=flp
    f32x16 came;
    if (t < 12) {
      came = in.read();
    }
    if (t >= 12) {
      f32x16 token;
      for (int e0 = 0; e0 < 4; ++e0) {
#pragma HLS unroll
        for (int e1 = 0; e1 < 4; ++e1) {
#pragma HLS unroll
          token[e0 * 4 + e1] = buffer[e0][drain0 * 4 + e1];
        }
      }
      out.write(token);
      drain0 = drain0 == 11 ? 0 : int(drain0) + 1;
    }
    if (t < 12) {
      for (int e1 = 0; e1 < 16; ++e1) {
#pragma HLS unroll
        buffer[fill1][fill0 * 16 + e1] = came[e1];
      }
      fill1 = fill1 == 3 ? 0 : int(fill1) + 1;
      if (fill1 == 0) {
        fill0 = fill0 == 2 ? 0 : int(fill0) + 1;
      }
    }
  }
}

