// Writes k to HBM. A word of 512 bits holds 1 token.
//   reads in: itensor<1x16xf32, iter_space: [2,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
//   writes credit: itensor<1xi1, iter_space: [2]*[1], iter_map: (d0)->(d0)>
void store_k(hls::stream<f32x16>& in, hls::stream<bool>& credit, hls::burst_maxi<ap_uint<512> > memory0) {
  for (int run = 0; run < 2; ++run) {
    memory0.write_request(run * 4, 4);
    for (int w = 0; w < 4; ++w) {
#pragma HLS pipeline II=1 style=flp
      ap_uint<512> word[1] = {0};
#pragma HLS array_partition variable=word type=complete
      const f32x16 token = in.read();
      pack<1>(token, 0, 0, word);
      memory0.write(word[0]);
    }
    memory0.write_response();
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      credit.write(0);
      ap_wait();
    }
  }
}

// Reads k from HBM. A word of 512 bits holds 1 token.
//   reads credit: itensor<1xi1, iter_space: [2]*[1], iter_map: (d0)->(d0)>
//   writes out: itensor<1x16xf32, iter_space: [2,4]*[16,1], iter_map: (d0,d1)->(d1,d0)>
void load_k(hls::stream<bool>& credit, hls::stream<f32x16>& out, hls::burst_maxi<ap_uint<512> > memory0) {
  for (int run = 0; run < 2; ++run) {
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      credit.read();
      ap_wait();
    }
    memory0.read_request(run * 4, 4);
    for (int w = 0; w < 4; ++w) {
#pragma HLS pipeline II=1 style=flp
      const ap_uint<512> word[1] = {memory0.read()};
#pragma HLS array_partition variable=word type=complete
      f32x16 token;
      unpack<1>(word, 0, 0, token);
      out.write(token);
    }
  }
}

// Kernels of kept, in the order in which they run.
#pragma once

#include <ap_int.h>
#include <hls_burst_maxi.h>

extern "C" {
void kept_k0(
    const ap_uint<512>* x_0, hls::burst_maxi<ap_uint<512> > k_0, hls::burst_maxi<ap_uint<512> > k_0_1,
    ap_uint<512>* y_0);
}
