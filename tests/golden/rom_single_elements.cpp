// Holds w on the chip. 1152 iterations, one every cycle.
//   writes out: itensor<1x1xf32, iter_space: [24,48]*[1,1], iter_map: (d0,d1)->(d0,d1)>
void load_w(hls::stream<float>& out) {
#pragma HLS bind_storage variable=load_w_rom type=rom_1p impl=bram
  for (int w = 0; w < 24; ++w) {
    for (int w_1 = 0; w_1 < 48; ++w_1) {
#pragma HLS pipeline II=1 style=flp
      out.write(load_w_rom[w * 48 + w_1]);
    }
  }
}

