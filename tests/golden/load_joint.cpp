// Reads h0.up, h0.down from HBM. They lie in one image in the order of their use, a part of each in every one of 3
// rounds. A word of 512 bits holds 1 token.
//   writes out: itensor<1x16xf32, iter_space: [3,64]*[1,16], iter_map: (d0,d1)->(d0,d1)>
void load_engine0_in1(hls::stream<f32x16>& out, const ap_uint<512>* memory0) {
  for (int w = 0; w < 192; ++w) {
#pragma HLS pipeline II=1 style=flp
    const ap_uint<512> word[1] = {memory0[w]};
#pragma HLS array_partition variable=word type=complete
    f32x16 token;
    unpack<1>(word, 0, 0, token);
    out.write(token);
  }
}

