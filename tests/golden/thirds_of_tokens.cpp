// Reads v from HBM. A token takes 3 words of 512 bits.
//   writes out: itensor<1x48xf32, iter_space: [8]*[1], iter_map: (d0)->(d0,0)>
void load_v(hls::stream<f32x48>& out, const ap_uint<512>* memory0, int length) {
  f32x48 token;
  ap_uint<2> part = 0;
  const int trip0 = length * 3;
  for (int w = 0; w < trip0; ++w) {
#pragma HLS loop_tripcount min=0 max=21 avg=21
#pragma HLS pipeline II=1 style=flp
    const ap_uint<512> word[1] = {memory0[w]};
#pragma HLS array_partition variable=word type=complete
    unpack<3>(word, 0, part, token);
    if (part == 2) {
      out.write(token);
    }
    part = part == 2 ? 0 : int(part) + 1;
  }
}

