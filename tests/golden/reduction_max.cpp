// op_m: m[n0] = largest over k0 of s[n0, k0]. 6 iterations, one every cycle, 16 points side by side.
//   reads s: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   writes m: itensor<1xf32, iter_space: [6]*[1], iter_map: (d0)->(d0)>
void op_m(hls::stream<f32x16>& s, hls::stream<float>& m) {
  for (int n0 = 0; n0 < 6; ++n0) {
#pragma HLS pipeline II=1 style=flp
    const f32x16 s_token = s.read();
    float terms[16];
#pragma HLS array_partition variable=terms type=complete
    for (int k0_lane = 0; k0_lane < 16; ++k0_lane) {
#pragma HLS unroll
      terms[k0_lane] = s_token[k0_lane];
    }
    m.write(reduce_tree<Maximum>(terms));
  }
}

