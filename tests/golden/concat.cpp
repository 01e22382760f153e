// append: the tokens of one input after the other along keys's joined dimension.
//   reads cache: itensor<2x1x4xf32, iter_space: [7]*[1], iter_map: (d0)->(0,d0,0)>
//   reads k: itensor<1x2x4xf32, iter_space: []*[], iter_map: ()->(0,0,0)>
//   writes keys: itensor<2x1x4xf32, iter_space: [8]*[1], iter_map: (d0)->(0,d0,0)>
void append(hls::stream<f32x8>& cache, hls::stream<f32x8>& k, hls::stream<f32x8>& keys) {
  for (int n1 = 0; n1 < 8; ++n1) {
#pragma HLS pipeline II=1 style=flp
    f32x8 token;
    if (n1 < 7) {
      token = cache.read();
    }
    if (n1 == 7) {
      token = k.read();
    }
    keys.write(token);
  }
}

