// Reads w from HBM. A word of 512 bits holds 16 tokens.
//   writes out: itensor<1x1xf32, iter_space: [24,4,48]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>
void load_w(hls::stream<float>& out, const ap_uint<512>* memory0) {
  for (int block = 0; block < 24; ++block) {
    for (int again = 0; again < 4; ++again) {
      for (int w = 0; w < 3; ++w) {
#pragma HLS pipeline II=16 style=flp
        const ap_uint<512> word[1] = {memory0[block * 3 + w]};
#pragma HLS array_partition variable=word type=complete
        for (int slot = 0; slot < 16; ++slot) {
#pragma HLS unroll
          float token;
          unpack<1>(word, slot, 0, token);
          out.write(token);
        }
      }
    }
  }
}

