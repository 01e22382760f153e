// Reads w from HBM. A word of 512 bits holds 16 tokens.
//   writes out: itensor<1x1xf32, iter_space: [24,48]*[1,1], iter_map: (d0,d1)->(d0,d1)>
void load_w(hls::stream<float>& out, const ap_uint<512>* memory0) {
  for (int w = 0; w < 72; ++w) {
#pragma HLS pipeline II=16 style=flp
    const ap_uint<512> word[1] = {memory0[w]};
#pragma HLS array_partition variable=word type=complete
    for (int slot = 0; slot < 16; ++slot) {
#pragma HLS unroll
      float token;
      unpack<1>(word, slot, 0, token);
      out.write(token);
    }
  }
}

