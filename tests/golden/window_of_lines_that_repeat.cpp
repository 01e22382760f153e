// Windows of 1 of 8 lines that repeat 2 times: 1 lines of 32 tokens wait. 512 iterations, one every cycle.
//   reads x: itensor<1x1x1xf32, iter_space: [8,8,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2)>
//   writes rows_1: itensor<1x1x1xf32, iter_space: [16,8,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2)>
void rows(hls::stream<float>& x, hls::stream<float>& rows_1) {
  float lines[1][32];
#pragma HLS array_partition variable=lines type=complete dim=1
#pragma HLS bind_storage variable=lines type=ram_s2p impl=lutram
#pragma HLS dependence variable=lines type=inter direction=RAW distance=32 dependent=true
  ap_uint<5> at = 0;
  float column[1];
#pragma HLS array_partition variable=column type=complete
  for (int row = 0; row < 8; ++row) {
    for (int phase = 0; phase < 2; ++phase) {
      for (int n1 = 0; n1 < 8; ++n1) {
        for (int n2 = 0; n2 < 4; ++n2) {
#pragma HLS pipeline II=1 style=flp
          column[0] = lines[0][at];
          if (phase == 0) {
            column[0] = x.read();
          }
          lines[0][at] = column[0];
          float token;
          token = column[0];
          rows_1.write(token);
          at = at == 31 ? 0 : int(at) + 1;
        }
      }
    }
  }
}

