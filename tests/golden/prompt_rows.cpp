// Reads h0.k_past from HBM. Rows before the one that position says, of 63. A word of 512 bits holds 1 token.
//   writes out: itensor<1x1x16xf32, iter_space: [3,63,2]*[1,1,16], iter_map: (d0,d1,d2)->(d0,d1,d2)>
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
        if (row > 0) {
#pragma HLS protocol mode=fixed
          ap_wait();
          credit.read();
          ap_wait();
        }
        memory0.read_request(run * 126, (position + 16) / 16 * 32 - 2);
        const int trip0 = (position + 16) / 16 * 32 - 2;
        for (int w = 0; w < trip0; ++w) {
#pragma HLS loop_tripcount min=30 max=126 avg=126
#pragma HLS pipeline II=1 style=flp
          const ap_uint<512> word[1] = {memory0.read() & (w < position * 2 ? ap_uint<512>(-1) : ap_uint<512>(0))};
#pragma HLS array_partition variable=word type=complete
          f32x16 token;
          unpack<1>(word, 0, 0, token);
          out.write(token);
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
        memory0.write_request(run * 126 + position * 2, 2);
        for (int w = 0; w < 2; ++w) {
#pragma HLS pipeline II=1 style=flp
          ap_uint<512> word[1] = {0};
#pragma HLS array_partition variable=word type=complete
          const f32x16 token = in.read();
          pack<1>(token, 0, 0, word);
          memory0.write(word[0]);
        }
        memory0.write_response();
        if (row < rows - 1) {
#pragma HLS protocol mode=fixed
          ap_wait();
          credit.write(true);
          ap_wait();
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

// Reads prompt from HBM. The row that position says, of 63. A word of 512 bits holds 1 token.
//   writes out: itensor<1xf32, iter_space: []*[], iter_map: ()->(0)>
void load_prompt(
    hls::stream<float>& out, hls::burst_maxi<ap_uint<512> > memory0, hls::stream<int>& go, hls::stream<int>& chunk) {
  while (const int rows = go.read()) {
    int told[8];
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
#pragma HLS pipeline II=1
      told[row] = go.read();
    }
    if (rows > 1) {
      memory0.read_request(told[0], rows - 1);
      for (int row = 1; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
#pragma HLS pipeline II=1
        const ap_uint<512> word[1] = {memory0.read()};
        float token;
        unpack<1>(word, 0, 0, token);
        chunk.write(token);
      }
    }
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
      const int position = told[row];
      memory0.read_request(position, 1);
      for (int w = 0; w < 1; ++w) {
#pragma HLS pipeline II=1 style=flp
        const ap_uint<512> word[1] = {memory0.read()};
#pragma HLS array_partition variable=word type=complete
        float token;
        unpack<1>(word, 0, 0, token);
        out.write(token);
      }
    }
  }
}

// Writes next to HBM. The row that position says, of 63. A word of 512 bits holds 1 token.
//   reads in: itensor<1xf32, iter_space: []*[], iter_map: ()->(0)>
void store_next(
    hls::stream<float>& in, hls::burst_maxi<ap_uint<512> > memory0, hls::stream<int>& go, hls::stream<float>& done) {
  while (const int rows = go.read()) {
    int told[8];
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
#pragma HLS pipeline II=1
      told[row] = go.read();
    }
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
      const int position = told[row];
      float stored;
      memory0.write_request(position, 1);
      for (int w = 0; w < 1; ++w) {
#pragma HLS pipeline II=1 style=flp
        ap_uint<512> word[1] = {0};
#pragma HLS array_partition variable=word type=complete
        const float token = in.read();
        stored = token;
        pack<1>(token, 0, 0, word);
        memory0.write(word[0]);
      }
      memory0.write_response();
      if (row == rows - 1) {
#pragma HLS protocol mode=fixed
        ap_wait();
        done.write(stored);
        ap_wait();
      }
    }
  }
}

// Passes on tokens, turn by turn. 96 iterations, one every cycle.
//   reads in: itensor<1xf32, iter_space: [2,8,2]*[16,2,1], iter_map: (d0,d1,d2)->(d0+d1+d2)>
//   reads in_1: itensor<1x1xf32, iter_space: [2,2,8,2]*[1,16,2,1], iter_map: (d0,d1,d2,d3)->(d0,d1+d2+d3)>
//   writes out: itensor<1x1xf32, iter_space: [3,2,8,2]*[1,16,2,1], iter_map: (d0,d1,d2,d3)->(d0,d1+d2+d3)>
void enter_x(
    hls::stream<float>& in, hls::stream<float>& in_1, hls::stream<float>& out, hls::stream<unsigned char>& go) {
  while (const int rows = go.read()) {
    float passed(0);
    static const bool reads_in[2] = {true, false};
    static const bool reads_in_1[2] = {false, true};
    static const int rounds[2] = {1, 2};
    for (int part = 0; part < 2; ++part) {
#pragma HLS loop_flatten off
      for (int round = 0; round < rounds[part]; ++round) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=2 avg=1
        for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
          for (int t = 0; t < 32; ++t) {
#pragma HLS pipeline II=1 style=flp
            if (reads_in_1[part]) {
              passed = in_1.read();
            }
            if (reads_in[part]) {
              passed = in.read();
            }
            out.write(passed);
          }
        }
      }
    }
  }
}

// h0.key: h0.key[n0, n1] = x.each[n0, n1] * h0.scale[n0, n1]. 96 iterations, one every cycle, one point at a time.
//   reads x_each: itensor<1x1xf32, iter_space: [3,2,8,2]*[1,16,2,1], iter_map: (d0,d1,d2,d3)->(d0,d1+d2+d3)>
//   reads h0_scale: itensor<1x1xf32, iter_space: [3,2,16]*[1,16,1], iter_map: (d0,d1,d2)->(d0,d1+d2)>
//   writes key: itensor<1x1xf32, iter_space: [3,2,16]*[1,16,1], iter_map: (d0,d1,d2)->(d0,d1+d2)>
void h0_key(
    hls::stream<float>& x_each, hls::stream<float>& h0_scale, hls::stream<float>& key,
    hls::stream<unsigned char>& go) {
  while (const int rows = go.read()) {
    for (int n0 = 0; n0 < 3; ++n0) {
#pragma HLS loop_flatten off
      for (int row = 0; row < rows; ++row) {
#pragma HLS loop_flatten off
#pragma HLS loop_tripcount min=1 max=8 avg=1
        for (int n1_tile = 0; n1_tile < 2; ++n1_tile) {
          for (int n1 = 0; n1 < 16; ++n1) {
#pragma HLS pipeline II=1 style=flp
            const float x_each_token = x_each.read();
            const float h0_scale_token = h0_scale.read();
            const float product = x_each_token * h0_scale_token;
            key.write(product);
          }
        }
      }
    }
  }
}

// Starts every task for each token, from position to until, or until the token is end from first on.
// Up to first they are a prompt's, 8 at once: how many there are, and what each is told.
void control(
    hls::stream<int>& load_h0_k_past_go, hls::stream<unsigned char>& load_h0_scale_go,
    hls::stream<int>& load_prompt_go, hls::stream<int>& load_seen_go, hls::stream<int>& load_x_go,
    hls::stream<unsigned char>& enter_x_go, hls::stream<unsigned char>& fork_x_go,
    hls::stream<unsigned char>& h0_key_go, hls::stream<unsigned char>& convert_h0_key_to_h0_join_in0_go,
    hls::stream<unsigned char>& fork_h0_key_to_h0_join_in0_go, hls::stream<int>& h0_join_go,
    hls::stream<int>& convert_h0_keys_to_h0_sum_in0_go, hls::stream<int>& h0_sum_go,
    hls::stream<unsigned char>& convert_h0_sum_to_h0_out_in0_go, hls::stream<unsigned char>& h0_out_go,
    hls::stream<unsigned char>& leave_h0_out_go, hls::stream<unsigned char>& convert_h0_out_to_best_in0_go,
    hls::stream<unsigned char>& best_go, hls::stream<unsigned char>& next_go, hls::stream<int>& store_next_go,
    hls::stream<int>& store_h0_key_go, hls::stream<float>& store_next_done, hls::stream<bool>& store_h0_key_done,
    hls::stream<int>& load_prompt_chunk, int end, int first, int position, int token, int until) {
  int ids[8];
  for (bool more = true; more;) {
    const int left = position < first ? first - position + 1 : 1;
    const int rows = left < 8 ? left : 8;
    ids[0] = token;
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      load_prompt_go.write(rows);
      ap_wait();
    }
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
      {
#pragma HLS protocol mode=fixed
        ap_wait();
        load_prompt_go.write(position + row);
        ap_wait();
      }
    }
    for (int row = 1; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
      ids[row] = load_prompt_chunk.read();
    }
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      load_h0_k_past_go.write(rows);
      load_h0_scale_go.write(rows);
      load_seen_go.write(rows);
      load_x_go.write(rows);
      enter_x_go.write(rows);
      fork_x_go.write(rows);
      h0_key_go.write(rows);
      convert_h0_key_to_h0_join_in0_go.write(rows);
      fork_h0_key_to_h0_join_in0_go.write(rows);
      h0_join_go.write(rows);
      convert_h0_keys_to_h0_sum_in0_go.write(rows);
      h0_sum_go.write(rows);
      convert_h0_sum_to_h0_out_in0_go.write(rows);
      h0_out_go.write(rows);
      leave_h0_out_go.write(rows);
      convert_h0_out_to_best_in0_go.write(rows);
      best_go.write(rows);
      next_go.write(rows);
      store_next_go.write(rows);
      store_h0_key_go.write(rows);
      ap_wait();
    }
    for (int row = 0; row < rows; ++row) {
#pragma HLS loop_tripcount min=1 max=8 avg=1
      {
#pragma HLS protocol mode=fixed
        ap_wait();
        load_h0_k_past_go.write(position + row);
        load_seen_go.write(position + row);
        load_x_go.write(ids[row]);
        h0_join_go.write(position + row);
        convert_h0_keys_to_h0_sum_in0_go.write(position + row);
        h0_sum_go.write(position + row);
        store_next_go.write(position + row);
        store_h0_key_go.write(position + row);
        ap_wait();
      }
    }
    {
#pragma HLS protocol mode=fixed
      ap_wait();
      store_h0_key_done.read();
      token = int(store_next_done.read());
      ap_wait();
    }
    position += rows;
    more = position <= until && (position <= first || token != end);
  }
  load_h0_k_past_go.write(0);
  load_h0_scale_go.write(0);
  load_prompt_go.write(0);
  load_seen_go.write(0);
  load_x_go.write(0);
  enter_x_go.write(0);
  fork_x_go.write(0);
  h0_key_go.write(0);
  convert_h0_key_to_h0_join_in0_go.write(0);
  fork_h0_key_to_h0_join_in0_go.write(0);
  h0_join_go.write(0);
  convert_h0_keys_to_h0_sum_in0_go.write(0);
  h0_sum_go.write(0);
  convert_h0_sum_to_h0_out_in0_go.write(0);
  h0_out_go.write(0);
  leave_h0_out_go.write(0);
  convert_h0_out_to_best_in0_go.write(0);
  best_go.write(0);
  next_go.write(0);
  store_next_go.write(0);
  store_h0_key_go.write(0);
}

