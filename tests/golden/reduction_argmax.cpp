// op_key: key[n0] = largest over k0 of f(x[n0, k0]). 6 iterations, one every cycle, 13 points side by side.
//   reads x: itensor<1x13xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   writes key: itensor<1xi64, iter_space: [6]*[1], iter_map: (d0)->(d0)>
void op_key(hls::stream<f32x13>& x, hls::stream<int64_t>& key) {
  for (int n0 = 0; n0 < 6; ++n0) {
#pragma HLS pipeline II=1 style=flp
    const f32x13 x_token = x.read();
    int64_t terms[13];
#pragma HLS array_partition variable=terms type=complete
    for (int k0_lane = 0; k0_lane < 13; ++k0_lane) {
#pragma HLS unroll
      const bool condition = x_token[k0_lane] != x_token[k0_lane];
      const int bits = Element<float>::encode(x_token[k0_lane]).to_int();
      const bool condition_1 = int64_t(bits) < 0LL;
      const int64_t difference = -2147483648LL - int64_t(bits);
      const int64_t selected = condition_1 ? difference : int64_t(bits);
      const int64_t selected_1 = condition ? 2147483647LL : selected;
      const int64_t shifted = selected_1 * (1LL << 4LL);
      const int place = k0_lane;
      const int difference_1 = 15 - place;
      const int64_t joined = shifted | int64_t(difference_1);
      terms[k0_lane] = joined;
    }
    key.write(reduce_tree<Maximum>(terms));
  }
}

