// Reads h0.k_past from HBM. Rows before the one that position says, of 63. A word of 512 bits holds 1 token.
//   writes out: itensor<1x1x16xf32, iter_space: [3,2,63]*[1,16,1], iter_map: (d0,d1,d2)->(d0,d2,d1)>
void load_h0_k_past(
    hls::stream<f32x16>& out, hls::burst_maxi<ap_uint<512> > memory0, hls::stream<int>& go,
    hls::stream<bool>& credit) {
  while (const int rows = go.read()) {
    int told[8];
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
#pragma HLS pipeline II=1
      told[row] = go.read();
    }
    for (int run = 0; run < 3; ++run) {
      for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
        const int position = told[row];
        for (int run_1 = 0; run_1 < 2; ++run_1) {
          if (row > 0 && run_1 == 0) {
#pragma HLS protocol mode=fixed
            ap_wait();
            credit.read();
            ap_wait();
          }
          if (run_1 == 0) {
            memory0.read_request(run * 126 + run_1 * 63, (position + 4) / 4 * 4 - 1);
          }
          if (run_1 < 1) {
            memory0.read_request(run * 126 + run_1 * 63 + 63, (position + 4) / 4 * 4 - 1);
          }
          const int trip0 = (position + 4) / 4 * 4 - 1;
          for (int w = 0; w < trip0; ++w) {
#pragma HLS loop_tripcount min=3 max=63 avg=63
#pragma HLS pipeline II=1 style=flp
            const ap_uint<512> word[1] = {memory0.read() & (w < position ? ap_uint<512>(-1) : ap_uint<512>(0))};
#pragma HLS array_partition variable=word type=complete
            f32x16 token;
            unpack<1>(word, 0, 0, token);
            out.write(token);
          }
        }
      }
    }
  }
}

// Writes h0.k_past to HBM. The row that position says, of 63. A word of 512 bits holds 1 token.
//   reads in: itensor<1x16xf32, iter_space: [3,2]*[1,16], iter_map: (d0,d1)->(d0,d1)>
void store_h0_key(
    hls::stream<f32x16>& in, hls::burst_maxi<ap_uint<512> > memory0, hls::stream<int>& go, hls::stream<bool>& done,
    hls::stream<bool>& credit) {
  while (const int rows = go.read()) {
    int told[8];
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
#pragma HLS pipeline II=1
      told[row] = go.read();
    }
    for (int run = 0; run < 3; ++run) {
      for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
        const int position = told[row];
        for (int run_1 = 0; run_1 < 2; ++run_1) {
          memory0.write_request(run * 126 + run_1 * 63 + position, 1);
          for (int w = 0; w < 1; ++w) {
#pragma HLS pipeline II=1 style=flp
            ap_uint<512> word[1] = {0};
#pragma HLS array_partition variable=word type=complete
            const f32x16 token = in.read();
            pack<1>(token, 0, 0, word);
            memory0.write(word[0]);
          }
          memory0.write_response();
          if (row < rows - 1 && run_1 == 1) {
#pragma HLS protocol mode=fixed
            ap_wait();
            credit.write(true);
            ap_wait();
          }
        }
      }
    }
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      done.write(true);
      ap_wait();
    }
  }
}

