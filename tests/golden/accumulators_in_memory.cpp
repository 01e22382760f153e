// op_h: h[n0, n1] = sum over k0 of x[n0, k0] * w[k0, n1]. 4608 iterations, one every cycle, one point at a time.
//   reads x: itensor<1x1xf32, iter_space: [24,48,4]*[1,1,1], iter_map: (d0,d1,d2)->(d2,d0)>
//   reads w: itensor<1x1xf32, iter_space: [24,48]*[1,1], iter_map: (d0,d1)->(d0,d1)>
//   writes h: itensor<1x1xf32, iter_space: [48,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>
void op_h(hls::stream<float>& x, hls::stream<float>& w, hls::stream<float>& h) {
  float w_token;
  float acc[48][4];
#pragma HLS bind_storage variable=acc type=ram_s2p impl=bram
#pragma HLS dependence variable=acc type=inter direction=RAW distance=192 dependent=true
  for (int k0 = 0; k0 < 24; ++k0) {
    for (int n1 = 0; n1 < 48; ++n1) {
      for (int n0 = 0; n0 < 4; ++n0) {
#pragma HLS pipeline II=1 style=flp
        const float x_token = x.read();
        if (n0 == 0) {
          w_token = w.read();
        }
        const float product = x_token * w_token;
        const float total = k0 == 0 ? product : acc[n1][n0] + product;
        acc[n1][n0] = total;
        if (k0 == 23) {
          h.write(total);
        }
      }
    }
  }
}

