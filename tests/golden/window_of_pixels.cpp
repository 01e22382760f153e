// Windows of 3 of 8 lines at every 2 lines, -inf outside: 2 lines of 4 tokens wait. 128 iterations, one every cycle.
//   reads rows: itensor<1x1x1x3xf32, iter_space: [4,8,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2,0)>
//   writes pixels_1: itensor<1x1x1x3x3xf32, iter_space: [4,4,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2,0,0)>
void pixels(hls::stream<f32x3>& rows, hls::stream<f32x9>& pixels_1) {
  f32x3 lines[2][4];
#pragma HLS array_partition variable=lines type=complete dim=1
#pragma HLS bind_storage variable=lines type=ram_s2p impl=lutram
#pragma HLS dependence variable=lines type=inter direction=RAW distance=4 dependent=true
  ap_uint<2> at = 0;
  f32x3 column[3];
#pragma HLS array_partition variable=column type=complete
  for (int n0 = 0; n0 < 4; ++n0) {
    for (int row = 0; row < 4; ++row) {
      for (int phase = 0; phase < 2; ++phase) {
        for (int n2 = 0; n2 < 4; ++n2) {
#pragma HLS pipeline II=1 style=flp
          for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
            column[line] = lines[line][at];
          }
          column[2] = rows.read();
          for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
            lines[line][at] = column[line + 1];
          }
          if (phase == 1) {
            const int origin = row * 2 - 1;
            f32x9 token;
            for (int e3 = 0; e3 < 3; ++e3) {
#pragma HLS unroll
              for (int e4 = 0; e4 < 3; ++e4) {
#pragma HLS unroll
                token[e3 * 3 + e4] = origin + e4 >= 0 ? column[e4][e3] : -INFINITY;
              }
            }
            pixels_1.write(token);
          }
          at = at == 3 ? 0 : int(at) + 1;
        }
      }
    }
  }
}

