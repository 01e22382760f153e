// Passes on tokens, turn by turn. 9 iterations, one every cycle.
//   reads in: itensor<1xf32, iter_space: [3]*[1], iter_map: (d0)->(d0)>
//   reads in_1: itensor<1xf32, iter_space: [3]*[1], iter_map: (d0)->(d0)>
//   reads in_2: itensor<1xf32, iter_space: [3]*[1], iter_map: (d0)->(d0)>
//   writes out: itensor<1xf32, iter_space: [9]*[1], iter_map: (d0)->(d0)>
void n_feed(hls::stream<float>& in, hls::stream<float>& in_1, hls::stream<float>& in_2, hls::stream<float>& out) {
  float passed(0);
  static const bool reads_in[3] = {true, false, false};
  static const bool reads_in_1[3] = {false, true, false};
  static const bool reads_in_2[3] = {false, false, true};
  for (int turn = 0; turn < 3; ++turn) {
#pragma HLS loop_flatten off
    for (int t = 0; t < 3; ++t) {
#pragma HLS pipeline II=1 style=flp
      if (reads_in_2[turn]) {
        passed = in_2.read();
      }
      if (reads_in_1[turn]) {
        passed = in_1.read();
      }
      if (reads_in[turn]) {
        passed = in.read();
      }
      out.write(passed);
    }
  }
}

