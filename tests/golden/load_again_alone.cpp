// Reads v from HBM. A word of 512 bits holds 16 tokens.
//   writes out: itensor<1xf32, iter_space: [8,64]*[1,1], iter_map: (d0,d1)->(d1)>
void load_v(hls::stream<float>& out, const ap_uint<512>* memory0) {
  ap_uint<3> again = 0;
  ap_uint<2> w = 0;
  for (int t = 0; t < 32; ++t) {
#pragma HLS pipeline II=16 style=flp
    const ap_uint<512> word[1] = {memory0[w]};
#pragma HLS array_partition variable=word type=complete
    for (int slot = 0; slot < 16; ++slot) {
#pragma HLS unroll
      float token;
      unpack<1>(word, slot, 0, token);
      out.write(token);
    }
    w = w == 3 ? 0 : int(w) + 1;
    if (w == 0) {
      again = again == 7 ? 0 : int(again) + 1;
    }
  }
}

