// Re-orders tokens: both sides walk the outer 5 iterations alike, so a box of 24x2 is kept, in a ring of 36 along d0:
// the next follows the last uses of this one. 96 iterations, one every cycle.
//   reads in: itensor<3x1xi32, iter_space: [5,8,2]*[2,3,1], iter_map: (d0,d1,d2)->(d1,d0+d2)>
//   writes out: itensor<4x2xi32, iter_space: [5,2,6]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
void banks_apart_in_a_ring(hls::stream<i32x3>& in, hls::stream<i32x8>& out) {
  int buffer[3][12][2];
#pragma HLS array_partition variable=buffer type=complete dim=2
#pragma HLS array_partition variable=buffer type=complete dim=3
#pragma HLS bind_storage variable=buffer type=ram_s2p impl=lutram
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=7 dependent=true
  ap_uint<1> fill0 = 0;
  ap_uint<2> fill1 = 0;
  ap_uint<1> fill2 = 0;
  ap_uint<2> fill_origin = 0;
  ap_uint<1> drain0 = 0;
  ap_uint<1> drain1 = 0;
  ap_uint<2> drain2 = 0;
  ap_uint<2> drain_origin = 0;
  for (int round = 0; round < 6; ++round) {
    for (int step = 0; step < 4; ++step) {
      for (int t = 0; t < 4; ++t) {
#pragma HLS pipeline II=1 style=flp
        i32x3 came;
        if (round < 5) {
          came = in.read();
        }
        if (round >= 1 && t < 3) {
          int drain_at = drain_origin + drain1;
          drain_at = drain_at < 3 ? drain_at : drain_at - 3;
          i32x8 token;
          for (int e0 = 0; e0 < 4; ++e0) {
#pragma HLS unroll
            for (int e1 = 0; e1 < 2; ++e1) {
#pragma HLS unroll
              token[e0 * 2 + e1] = buffer[drain_at][drain2 * 4 + e0][e1];
            }
          }
          out.write(token);
          drain2 = drain2 == 2 ? 0 : int(drain2) + 1;
          if (drain2 == 0) {
            drain1 = drain1 == 1 ? 0 : int(drain1) + 1;
            if (drain1 == 0) {
              drain0 = drain0 == 1 ? 0 : int(drain0) + 1;
              if (drain0 == 0) {
                drain_origin = drain_origin < 1 ? int(drain_origin) + 2 : int(drain_origin) - 1;
              }
            }
          }
        }
        if (round < 5) {
          int fill_at = fill_origin + fill0;
          fill_at = fill_at < 3 ? fill_at : fill_at - 3;
          for (int e0 = 0; e0 < 3; ++e0) {
#pragma HLS unroll
            buffer[fill_at][fill1 * 3 + e0][fill2] = came[e0];
          }
          fill2 = fill2 == 1 ? 0 : int(fill2) + 1;
          if (fill2 == 0) {
            fill1 = fill1 == 3 ? 0 : int(fill1) + 1;
            if (fill1 == 0) {
              fill0 = fill0 == 1 ? 0 : int(fill0) + 1;
              if (fill0 == 0) {
                fill_origin = fill_origin < 1 ? int(fill_origin) + 2 : int(fill_origin) - 1;
              }
            }
          }
        }
      }
    }
  }
}

