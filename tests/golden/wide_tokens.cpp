// Reads v from HBM. A token takes 5 words of 1024 bits.
//   writes out: itensor<8x20xf32, iter_space: [3]*[8], iter_map: (d0)->(d0,0)>
void load_v(
    hls::stream<f32x160::Part>& out, const ap_uint<512>* memory0, const ap_uint<512>* memory1,
    hls::stream<f32x160::Part>& out_part1) {
  f32x160 token;
  for (int w = 0; w < 3; ++w) {
    for (int part = 0; part < 5; ++part) {
#pragma HLS pipeline II=1 style=flp
      const ap_uint<512> word[2] = {memory0[w * 5 + part], memory1[w * 5 + part]};
#pragma HLS array_partition variable=word type=complete
      unpack<5>(word, 0, part, token);
      if (part == 4) {
        out.write(token.parts[0]);
        out_part1.write(token.parts[1]);
      }
    }
  }
}

// Writes v to HBM. A token takes 5 words of 1024 bits.
//   reads in: itensor<8x20xf32, iter_space: [3]*[8], iter_map: (d0)->(d0,0)>
void store_v(
    hls::stream<f32x160::Part>& in, ap_uint<512>* memory0, ap_uint<512>* memory1,
    hls::stream<f32x160::Part>& in_part1) {
  f32x160 token;
  for (int w = 0; w < 3; ++w) {
    for (int part = 0; part < 5; ++part) {
#pragma HLS pipeline II=1 style=flp
      ap_uint<512> word[2] = {0, 0};
#pragma HLS array_partition variable=word type=complete
      if (part == 0) {
        token = f32x160(in.read(), in_part1.read());
      }
      pack<5>(token, 0, part, word);
      memory0[w * 5 + part] = word[0];
      memory1[w * 5 + part] = word[1];
    }
  }
}

