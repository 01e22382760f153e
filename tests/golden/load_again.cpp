// Reads x from HBM. A word of 512 bits holds 1 token.
//   writes out: itensor<4x4xf32, iter_space: [3,3,2]*[1,8,4], iter_map: (d0,d1,d2)->(0,d1+d2)>
void load_x(hls::stream<f32x16>& out, const ap_uint<512>* memory0) {
  for (int again = 0; again < 3; ++again) {
    for (int w = 0; w < 6; ++w) {
#pragma HLS pipeline II=1 style=flp
      const ap_uint<512> word[1] = {memory0[w]};
#pragma HLS array_partition variable=word type=complete
      f32x16 token;
      unpack<1>(word, 0, 0, token);
      out.write(token);
    }
  }
}

