// Windows of 3 of 8 lines at every 2 lines, -inf outside: 2 lines of 32 tokens wait. 768 iterations, one every cycle.
//   reads x: itensor<1x1x1xf32, iter_space: [8,8,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2)>
//   writes rows_1: itensor<1x1x1x1xf32, iter_space: [4,8,4,3]*[1,1,1,1], iter_map: (d0,d1,d2,d3)->(d0,d1,d2,d3)>
void rows(hls::stream<float>& x, hls::stream<float>& rows_1) {
  float lines[2][32];
#pragma HLS array_partition variable=lines type=complete dim=1
#pragma HLS bind_storage variable=lines type=ram_s2p impl=lutram
#pragma HLS dependence variable=lines type=inter direction=RAW distance=96 dependent=true
  ap_uint<5> at = 0;
  float column[3];
#pragma HLS array_partition variable=column type=complete
  for (int row = 0; row < 4; ++row) {
    for (int phase = 0; phase < 2; ++phase) {
      for (int n1 = 0; n1 < 8; ++n1) {
        for (int n2 = 0; n2 < 4; ++n2) {
          for (int n3 = 0; n3 < 3; ++n3) {
#pragma HLS pipeline II=1 style=flp
            if (n3 == 0) {
              for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
                column[line] = lines[line][at];
              }
              column[2] = x.read();
              for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
                lines[line][at] = column[line + 1];
              }
            }
            if (phase == 1) {
              const int origin = row * 2 - 1;
              float token;
              token = origin + n3 >= 0 ? column[n3] : -INFINITY;
              rows_1.write(token);
            }
            if (n3 == 2) {
              at = at == 31 ? 0 : int(at) + 1;
            }
          }
        }
      }
    }
  }
}

