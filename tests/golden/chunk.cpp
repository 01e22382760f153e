// split: each token goes to the output of the chunk that it is in.
//   reads qkv: itensor<1x1x1x4xf32, iter_space: [3,2]*[1,1], iter_map: (d0,d1)->(0,d0,d1,0)>
//   writes q: itensor<1x1x4xf32, iter_space: [2]*[1], iter_map: (d0)->(0,d0,0)>
//   writes k: itensor<1x1x4xf32, iter_space: [2]*[1], iter_map: (d0)->(0,d0,0)>
//   writes v: itensor<1x1x4xf32, iter_space: [2]*[1], iter_map: (d0)->(0,d0,0)>
void split(hls::stream<f32x4>& qkv, hls::stream<f32x4>& q, hls::stream<f32x4>& k, hls::stream<f32x4>& v) {
  for (int n1 = 0; n1 < 3; ++n1) {
    for (int n2 = 0; n2 < 2; ++n2) {
#pragma HLS pipeline II=1 style=flp
      const f32x4 token = qkv.read();
      if (n1 == 0) {
        q.write(token);
      }
      if (n1 == 1) {
        k.write(token);
      }
      if (n1 == 2) {
        v.write(token);
      }
    }
  }
}

