// op_acc: acc[n0, n1, n2] = sum over k0 of int(q[n0, n1, k0]) * int(w[n1, k0, n2]). 20 iterations, one every cycle,
// 96 points side by side.
//   reads q: itensor<3x2x8xi8, iter_space: [2,2]*[1,8], iter_map: (d0,d1)->(0,0,d1)>
//   reads w: itensor<2x8x2xi4, iter_space: [2,2,5]*[10,8,2], iter_map: (d0,d1,d2)->(0,d1,d0+d2)>
//   writes acc: itensor<3x2x2xi32, iter_space: [2,5]*[10,2], iter_map: (d0,d1)->(0,0,d0+d1)>
void op_acc(hls::stream<i8x48>& q, hls::stream<i4x32>& w, hls::stream<i32x12>& acc) {
  i8x48 q_token;
  int acc_1[5][3][2][2];
#pragma HLS array_partition variable=acc_1 type=complete dim=2
#pragma HLS array_partition variable=acc_1 type=complete dim=3
#pragma HLS array_partition variable=acc_1 type=complete dim=4
#pragma HLS bind_storage variable=acc_1 type=ram_s2p impl=lutram
#pragma HLS dependence variable=acc_1 type=inter direction=RAW distance=5 dependent=true
  for (int n2_tile = 0; n2_tile < 2; ++n2_tile) {
    for (int k0 = 0; k0 < 2; ++k0) {
      for (int n2 = 0; n2 < 5; ++n2) {
#pragma HLS pipeline II=1 style=flp
        if (n2 == 0) {
          q_token = q.read();
        }
        ap_int<4> w_token[32];
#pragma HLS array_partition variable=w_token type=complete
        unpack_elements(w.read(), w_token);
        int product[12][8];
#pragma HLS array_partition variable=product type=complete dim=0
        for (int n0_lane = 0; n0_lane < 3; ++n0_lane) {
#pragma HLS unroll
          for (int n1_lane = 0; n1_lane < 2; ++n1_lane) {
#pragma HLS unroll
            for (int n2_lane = 0; n2_lane < 2; n2_lane += 2) {
#pragma HLS unroll
              for (int k0_lane = 0; k0_lane < 8; ++k0_lane) {
#pragma HLS unroll
                mul2(
                    w_token[n1_lane * 16 + k0_lane * 2 + n2_lane + 1], w_token[n1_lane * 16 + k0_lane * 2 + n2_lane],
                    q_token[n0_lane * 16 + n1_lane * 8 + k0_lane],
                    product[n0_lane * 4 + n1_lane * 2 + n2_lane + 1][k0_lane],
                    product[n0_lane * 4 + n1_lane * 2 + n2_lane][k0_lane]);
              }
            }
          }
        }
        i32x12 acc_token;
        for (int n0_lane = 0; n0_lane < 3; ++n0_lane) {
#pragma HLS unroll
          for (int n1_lane = 0; n1_lane < 2; ++n1_lane) {
#pragma HLS unroll
            for (int n2_lane = 0; n2_lane < 2; ++n2_lane) {
#pragma HLS unroll
              const int partial = reduce_tree<Add>(product[n0_lane * 4 + n1_lane * 2 + n2_lane]);
              const int total = k0 == 0 ? partial : acc_1[n2][n0_lane][n1_lane][n2_lane] + partial;
              acc_1[n2][n0_lane][n1_lane][n2_lane] = total;
              acc_token[n0_lane * 4 + n1_lane * 2 + n2_lane] = total;
            }
          }
        }
        if (k0 == 1) {
          acc.write(acc_token);
        }
      }
    }
  }
}

