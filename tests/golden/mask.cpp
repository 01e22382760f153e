// op_s: s[n0, n1] = mask[n0, n1] ? x[n0, n1] : -3.40282347e+38f. 6 iterations, one every cycle, 16 points side by
// side.
//   reads mask: itensor<1x16xi1, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   reads x: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   writes s: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
void op_s(hls::stream<i1x16>& mask, hls::stream<f32x16>& x, hls::stream<f32x16>& s) {
  for (int n0 = 0; n0 < 6; ++n0) {
#pragma HLS pipeline II=1 style=flp
    bool mask_token[16];
#pragma HLS array_partition variable=mask_token type=complete
    unpack_elements(mask.read(), mask_token);
    const f32x16 x_token = x.read();
    f32x16 s_token;
    for (int n1_lane = 0; n1_lane < 16; ++n1_lane) {
#pragma HLS unroll
      const float selected = mask_token[n1_lane] ? x_token[n1_lane] : -3.40282347e+38f;
      s_token[n1_lane] = selected;
    }
    s.write(s_token);
  }
}

