// Copies every token to 2 readers.
//   reads in: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   writes out: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
//   writes out_1: itensor<1x16xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
void fork_s(hls::stream<f32x16>& in, hls::stream<f32x16>& out, hls::stream<f32x16>& out_1) {
  for (int t = 0; t < 6; ++t) {
#pragma HLS pipeline II=1 style=flp
    const f32x16 token = in.read();
    out.write(token);
    out_1.write(token);
  }
}

