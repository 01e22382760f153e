// Passes on tokens, turn by turn. 16 iterations, one every cycle.
//   reads in: itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
//   reads in_1: itensor<1xf32, iter_space: [12]*[1], iter_map: (d0)->(d0)>
//   reads in_2: itensor<1xf32, iter_space: [3]*[1], iter_map: (d0)->(d0)>
//   writes out: itensor<1xf32, iter_space: [16]*[1], iter_map: (d0)->(d0)>
void n_head(hls::stream<float>& in, hls::stream<float>& in_1, hls::stream<float>& in_2, hls::stream<float>& out) {
  float passed(0);
  static const bool reads_in[2] = {true, false};
  static const bool reads_in_1[2] = {false, true};
  static const bool reads_in_2[2] = {false, true};
  static const int rounds[2] = {1, 3};
  for (int part = 0; part < 2; ++part) {
#pragma HLS loop_flatten off
    for (int round = 0; round < rounds[part]; ++round) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=3 avg=2
      for (int i0 = 0; i0 < 4; ++i0) {
#pragma HLS pipeline II=1 style=flp
        if (reads_in_2[part] && i0 == 0) {
          passed = in_2.read();
        }
        if (reads_in_1[part]) {
          passed = in_1.read();
        }
        if (reads_in[part]) {
          passed = in.read();
        }
        out.write(passed);
      }
    }
  }
}

