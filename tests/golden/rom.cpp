// Holds w on the chip. 8 iterations, one every cycle.
//   writes out: itensor<1x8x10xi4, iter_space: [2,2,2]*[10,1,8], iter_map: (d0,d1,d2)->(d1,d2,d0)>
void load_w(hls::stream<i4x80>& out) {
#pragma HLS array_reshape variable=load_w_rom dim=2 type=complete
#pragma HLS bind_storage variable=load_w_rom type=rom_1p impl=lutram
  for (int w = 0; w < 2; ++w) {
    for (int w_1 = 0; w_1 < 2; ++w_1) {
      for (int w_2 = 0; w_2 < 2; ++w_2) {
#pragma HLS pipeline II=1 style=flp
        ap_int<4> word_1[80];
#pragma HLS array_partition variable=word_1 type=complete
        for (int element = 0; element < 80; ++element) {
#pragma HLS unroll
          word_1[element] = load_w_rom[w * 4 + w_1 * 2 + w_2][element];
        }
        out.write(pack_elements<i4x80>(word_1));
      }
    }
  }
}

