// Passes on tokens, turn by turn. 16 iterations at most, one every cycle.
//   writes out: itensor<1xf32, iter_space: [16]*[1], iter_map: (d0)->(d0)>
//   writes out_1: itensor<1xf32, iter_space: [1]*[1], iter_map: (d0)->(d0)>
void n_score(hls::stream<float>& out, hls::stream<float>& out_1, int length) {
  float passed(0);
  const int trip0 = length;
  for (int i0 = 0; i0 < trip0; ++i0) {
#pragma HLS loop_tripcount min=0 max=16 avg=16
#pragma HLS pipeline II=1 style=flp
    out.write(passed);
    if (i0 == trip0 - 1) {
      out_1.write(passed);
    }
  }
}

