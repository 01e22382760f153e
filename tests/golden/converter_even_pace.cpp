// Re-orders tokens: both sides walk the outer 6 iterations alike, so a box of 4x8 is kept, twice: one half fills
// while the other drains. 28672 iterations, one every cycle.
//   reads in: itensor<1x1xi32, iter_space: [6,8,4]*[4,1,1], iter_map: (d0,d1,d2)->(d0+d2,d1)>
//   writes out: itensor<1x1xi32, iter_space: [6,128,4,8]*[4,1,1,1], iter_map: (d0,d1,d2,d3)->(d0+d2,d3)>
void even_pace(hls::stream<int>& in, hls::stream<int>& out) {
  int buffer[2][4][8];
#pragma HLS bind_storage variable=buffer type=ram_s2p impl=lutram
#pragma HLS dependence variable=buffer type=inter direction=RAW distance=159 dependent=true
  ap_uint<3> fill0 = 0;
  ap_uint<2> fill1 = 0;
  ap_uint<2> drain0 = 0;
  ap_uint<3> drain1 = 0;
  for (int round = 0; round < 7; ++round) {
    for (int step = 0; step < 32; ++step) {
      for (int t = 0; t < 128; ++t) {
#pragma HLS pipeline II=1 style=flp
        int came;
        if (round < 6 && t == 0) {
          came = in.read();
        }
        if (round >= 1) {
          int token;
          token = buffer[(round + 1) % 2][drain0][drain1];
          out.write(token);
          drain1 = drain1 == 7 ? 0 : int(drain1) + 1;
          if (drain1 == 0) {
            drain0 = drain0 == 3 ? 0 : int(drain0) + 1;
          }
        }
        if (round < 6 && t == 0) {
          buffer[round % 2][fill1][fill0] = came;
          fill1 = fill1 == 3 ? 0 : int(fill1) + 1;
          if (fill1 == 0) {
            fill0 = fill0 == 7 ? 0 : int(fill0) + 1;
          }
        }
      }
    }
  }
}

