// op_acc: acc[n0, n1, n2] = sum over k0 of int(q[n0, n1, k0]) * int(w[n1, k0, n2]). 24 iterations, one every cycle,
// 80 points side by side.
//   reads q: itensor<1x1x8xi8, iter_space: [2,2,2,3]*[1,1,8,1], iter_map: (d0,d1,d2,d3)->(d3,d1,d2)>
//   reads w: itensor<1x8x10xi4, iter_space: [2,2,2]*[10,1,8], iter_map: (d0,d1,d2)->(d1,d2,d0)>
//   writes acc: itensor<1x1x10xi32, iter_space: [2,2,3]*[10,1,1], iter_map: (d0,d1,d2)->(d2,d1,d0)>
void op_acc(hls::stream<i8x8>& q, hls::stream<i4x80>& w, hls::stream<i32x10>& acc) {
  ap_int<4> w_token[80];
#pragma HLS array_partition variable=w_token type=complete
  int acc_1[3][10];
#pragma HLS array_partition variable=acc_1 type=complete dim=2
#pragma HLS bind_storage variable=acc_1 type=ram_s2p impl=lutram
#pragma HLS dependence variable=acc_1 type=inter direction=RAW distance=3 dependent=true
  for (int n2 = 0; n2 < 2; ++n2) {
    for (int n1 = 0; n1 < 2; ++n1) {
      for (int k0 = 0; k0 < 2; ++k0) {
        for (int n0 = 0; n0 < 3; ++n0) {
#pragma HLS pipeline II=1 style=flp
          const i8x8 q_token = q.read();
          if (n0 == 0) {
            unpack_elements(w.read(), w_token);
          }
          ap_int<38> pair[10][8];
#pragma HLS array_partition variable=pair type=complete dim=0
          for (int n2_lane = 0; n2_lane < 10; n2_lane += 2) {
#pragma HLS unroll
            for (int k0_lane = 0; k0_lane < 8; ++k0_lane) {
#pragma HLS unroll
              pair[n2_lane][k0_lane] = pair2(
                  w_token[k0_lane * 10 + n2_lane + 1], w_token[k0_lane * 10 + n2_lane], q_token[k0_lane]);
            }
          }
          int product[10];
#pragma HLS array_partition variable=product type=complete dim=0
          for (int n2_lane = 0; n2_lane < 10; n2_lane += 2) {
#pragma HLS unroll
            split2(reduce_tree<Add>(pair[n2_lane]), product[n2_lane + 1], product[n2_lane]);
          }
          i32x10 acc_token;
          for (int n2_lane = 0; n2_lane < 10; ++n2_lane) {
#pragma HLS unroll
            const int total = k0 == 0 ? product[n2_lane] : acc_1[n0][n2_lane] + product[n2_lane];
            acc_1[n0][n2_lane] = total;
            acc_token[n2_lane] = total;
          }
          if (k0 == 1) {
            acc.write(acc_token);
          }
        }
      }
    }
  }
}

