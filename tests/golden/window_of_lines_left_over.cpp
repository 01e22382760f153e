// Windows of 3 of 9 lines at every 2 lines, -inf outside: 2 lines of 12 tokens wait. 1800 iterations, one every
// cycle.
//   reads rows: itensor<1x1x1x1xf32, iter_space: [5,9,4,3]*[1,1,1,1], iter_map: (d0,d1,d2,d3)->(d0,d1,d2,d3)>
//   writes pixels_1: itensor<1x1x1x1x1xf32, iter_space: [5,5,4,3,3]*[1,1,1,1,1], iter_map: (d0,d1,d2,d3,d4)->(d0,d1,d2,d3,d4)>
void pixels(hls::stream<float>& rows, hls::stream<float>& pixels_1) {
  float lines[2][12];
#pragma HLS array_partition variable=lines type=complete dim=1
#pragma HLS bind_storage variable=lines type=ram_s2p impl=lutram
#pragma HLS dependence variable=lines type=inter direction=RAW distance=36 dependent=true
  ap_uint<4> at = 0;
  float column[3];
#pragma HLS array_partition variable=column type=complete
  static const int trips0[2] = {4, 1};
  static const int reads_rows_among_first1[2] = {2, 1};
  static const int begins[2] = {0, 4};
  for (int round = 0; round < 5; ++round) {
#pragma HLS loop_flatten off
    for (int turn = 0; turn < 2; ++turn) {
#pragma HLS loop_flatten off
      const int trip0 = trips0[turn];
      const int iterations = trip0 * 72;
      ap_uint<2> row = 0;
      ap_uint<1> phase = 0;
      ap_uint<2> n2 = 0;
      ap_uint<2> n3 = 0;
      ap_uint<2> n4 = 0;
      for (int t = 0; t < iterations; ++t) {
#pragma HLS loop_tripcount min=72 max=288 avg=180
#pragma HLS pipeline II=1 style=flp
        if (n4 == 0) {
          for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
            column[line] = lines[line][at];
          }
          if (phase < reads_rows_among_first1[turn]) {
            column[2] = rows.read();
          }
          for (int line = 0; line < 2; ++line) {
#pragma HLS unroll
            lines[line][at] = column[line + 1];
          }
        }
        if (phase == 1) {
          const int origin = (row + begins[turn]) * 2 - 1;
          float token;
          token = origin + n4 >= 0 && origin + n4 < 9 ? column[n4] : -INFINITY;
          pixels_1.write(token);
        }
        if (n4 == 2) {
          at = at == 11 ? 0 : int(at) + 1;
        }
        n4 = n4 == 2 ? 0 : int(n4) + 1;
        if (n4 == 0) {
          n3 = n3 == 2 ? 0 : int(n3) + 1;
          if (n3 == 0) {
            n2 = n2 == 3 ? 0 : int(n2) + 1;
            if (n2 == 0) {
              phase = phase == 1 ? 0 : int(phase) + 1;
              if (phase == 0) {
                row = row == trip0 - 1 ? 0 : int(row) + 1;
              }
            }
          }
        }
      }
    }
  }
}

