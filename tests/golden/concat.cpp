// append: the tokens of one input after the other along keys's joined dimension.
//   reads cache: itensor<2x1x2xf32, iter_space: [7,2]*[1,2], iter_map: (d0,d1)->(0,d0,d1)>
//   reads k: itensor<1x2x2xf32, iter_space: [2]*[2], iter_map: (d0)->(0,0,d0)>
//   writes keys: itensor<2x1x2xf32, iter_space: [8,2]*[1,2], iter_map: (d0,d1)->(0,d0,d1)>
void append(hls::stream<f32x4>& cache, hls::stream<f32x4>& k, hls::stream<f32x4>& keys) {
  for (int n1 = 0; n1 < 8; ++n1) {
    for (int n2 = 0; n2 < 2; ++n2) {
#pragma HLS pipeline II=1 style=flp
      f32x4 token;
      if (n1 < 7) {
        token = cache.read();
      }
      if (n1 == 7) {
        token = k.read();
      }
      keys.write(token);
    }
  }
}

