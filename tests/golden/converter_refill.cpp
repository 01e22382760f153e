// Re-orders tokens: both sides walk the outer 6 iterations alike, so a box of 4x8 is kept, once: the next fills it
// behind the last uses of this one. 224 iterations, one every cycle.
//   reads in: itensor<2x2xi32, iter_space: [6,4,2]*[4,2,2], iter_map: (d0,d1,d2)->(d0+d2,d1)>
//   writes out: itensor<1x1xi32, iter_space: [6,4,8]*[4,1,1], iter_map: (d0,d1,d2)->(d0+d1,d2)>
void refill_with_tiles(hls::stream<i32x4>& in, hls::stream<int>& out) {
  int buffer[4][8];
#pragma HLS array_partition variable=buffer type=cyclic factor=2 dim=1
#pragma HLS array_partition variable=buffer type=cyclic factor=2 dim=2
#pragma HLS bind_storage variable=buffer type=ram_s2p impl=lutram
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=8 dependent=true
  ap_uint<2> fill0 = 0;
  ap_uint<1> fill1 = 0;
  ap_uint<2> drain0 = 0;
  ap_uint<3> drain1 = 0;
  for (int round = 0; round < 7; ++round) {
    for (int t = 0; t < 32; ++t) {
#pragma HLS pipeline II=1 style=flp
      i32x4 came;
      if (round < 6 && t >= 24) {
        came = in.read();
      }
      if (round >= 1) {
        int token;
        token = buffer[drain0][drain1];
        out.write(token);
        drain1 = drain1 == 7 ? 0 : int(drain1) + 1;
        if (drain1 == 0) {
          drain0 = drain0 == 3 ? 0 : int(drain0) + 1;
        }
      }
      if (round < 6 && t >= 24) {
        for (int e0 = 0; e0 < 2; ++e0) {
#pragma HLS unroll
          for (int e1 = 0; e1 < 2; ++e1) {
#pragma HLS unroll
            buffer[fill1 * 2 + e0][fill0 * 2 + e1] = came[e0 * 2 + e1];
          }
        }
        fill1 = fill1 == 1 ? 0 : int(fill1) + 1;
        if (fill1 == 0) {
          fill0 = fill0 == 3 ? 0 : int(fill0) + 1;
        }
      }
    }
  }
}

