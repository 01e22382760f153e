// Re-orders tokens: both sides walk the outer 6 iterations alike, so a box of 4x8 is kept, in a ring of 7 along d0:
// the next follows the last uses of this one. 224 iterations, one every cycle.
//   reads in: itensor<1x1xi32, iter_space: [6,4,8]*[4,1,1], iter_map: (d0,d1,d2)->(d0+d1,d2)>
//   writes out: itensor<1x1xi32, iter_space: [6,8,4]*[4,1,1], iter_map: (d0,d1,d2)->(d0+d2,d1)>
void ring(hls::stream<int>& in, hls::stream<int>& out) {
  int buffer[7][8];
#pragma HLS bind_storage variable=buffer type=ram_s2p impl=lutram
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=11 dependent=true
  ap_uint<2> fill0 = 0;
  ap_uint<3> fill1 = 0;
  ap_uint<3> fill_origin = 0;
  ap_uint<3> drain0 = 0;
  ap_uint<2> drain1 = 0;
  ap_uint<3> drain_origin = 0;
  for (int round = 0; round < 7; ++round) {
    for (int t = 0; t < 32; ++t) {
#pragma HLS pipeline II=1 style=flp
      int came;
      if (round < 6) {
        came = in.read();
      }
      if (round >= 1) {
        int drain_at = drain_origin + drain1;
        drain_at = drain_at < 7 ? drain_at : drain_at - 7;
        int token;
        token = buffer[drain_at][drain0];
        out.write(token);
        drain1 = drain1 == 3 ? 0 : int(drain1) + 1;
        if (drain1 == 0) {
          drain0 = drain0 == 7 ? 0 : int(drain0) + 1;
          if (drain0 == 0) {
            drain_origin = drain_origin < 3 ? int(drain_origin) + 4 : int(drain_origin) - 3;
          }
        }
      }
      if (round < 6) {
        int fill_at = fill_origin + fill0;
        fill_at = fill_at < 7 ? fill_at : fill_at - 7;
        buffer[fill_at][fill1] = came;
        fill1 = fill1 == 7 ? 0 : int(fill1) + 1;
        if (fill1 == 0) {
          fill0 = fill0 == 3 ? 0 : int(fill0) + 1;
          if (fill0 == 0) {
            fill_origin = fill_origin < 3 ? int(fill_origin) + 4 : int(fill_origin) - 3;
          }
        }
      }
    }
  }
}

