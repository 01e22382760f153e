// Passes on tokens, turn by turn. 12 iterations, one every cycle.
//   reads in: itensor<1xf32, iter_space: [12]*[1], iter_map: (d0)->(d0)>
//   reads in_1: itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
//   writes out: itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
void n_third(hls::stream<float>& in, hls::stream<float>& in_1, hls::stream<float>& out) {
  for (int first = 0; first < 1; ++first) {
#pragma HLS pipeline II=1
    out.write(float(0));
  }
  float passed(0);
  for (int round = 0; round < 4; ++round) {
#pragma HLS loop_flatten off
    for (int i0 = 0; i0 < 3; ++i0) {
#pragma HLS pipeline II=1 style=flp
      if (i0 == 0) {
        passed = in_1.read();
      }
      passed = in.read();
      if (i0 == 2) {
        out.write(passed);
      }
    }
  }
}

