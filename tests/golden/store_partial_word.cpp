// Writes y to HBM. A word of 512 bits holds 16 tokens.
//   reads in: itensor<1x1xf32, iter_space: [12,5]*[1,1], iter_map: (d0,d1)->(d1,d0)>
void store_y(hls::stream<float>& in, ap_uint<512>* memory0) {
  for (int w = 0; w < 4; ++w) {
#pragma HLS pipeline II=16 style=flp
    ap_uint<512> word[1] = {0};
#pragma HLS array_partition variable=word type=complete
    for (int slot = 0; slot < 16; ++slot) {
#pragma HLS unroll
      if (w * 16 + slot < 60) {
        const float token = in.read();
        pack<1>(token, slot, 0, word);
      }
    }
    memory0[w] = word[0];
  }
}

