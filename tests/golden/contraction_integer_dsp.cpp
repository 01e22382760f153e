// op_acc: acc[n0, n1, n2] = sum over k0 of int(q[n0, n1, k0]) * int(w[n1, k0, n2]). 20 iterations, one every cycle,
// 96 points side by side.
//   reads q: itensor<3x1x8xi8, iter_space: [2,5,2]*[8,1,1], iter_map: (d0,d1,d2)->(0,d2,d0)>
//   reads w: itensor<1x8x4xi4, iter_space: [2,5,2]*[8,4,1], iter_map: (d0,d1,d2)->(d2,d0,d1)>
//   writes acc: itensor<3x1x4xi32, iter_space: [5,2]*[4,1], iter_map: (d0,d1)->(0,d1,d0)>
void op_acc(hls::stream<i8x24>& q, hls::stream<i4x32>& w, hls::stream<i32x12>& acc) {
  int acc_1[5][2][3][4];
#pragma HLS array_partition variable=acc_1 type=complete dim=3
#pragma HLS array_partition variable=acc_1 type=complete dim=4
#pragma HLS bind_storage variable=acc_1 type=ram_s2p impl=lutram
#pragma HLS dependence variable=acc_1 type=inter direction=RAW distance=10 dependent=true
  for (int k0 = 0; k0 < 2; ++k0) {
    for (int n2 = 0; n2 < 5; ++n2) {
      for (int n1 = 0; n1 < 2; ++n1) {
#pragma HLS pipeline II=1 style=flp
        const i8x24 q_token = q.read();
        ap_int<4> w_token[32];
#pragma HLS array_partition variable=w_token type=complete
        unpack_elements(w.read(), w_token);
        i32x12 acc_token;
        for (int n0_lane = 0; n0_lane < 3; ++n0_lane) {
#pragma HLS unroll
          for (int n2_lane = 0; n2_lane < 4; ++n2_lane) {
#pragma HLS unroll
            int terms[8];
#pragma HLS array_partition variable=terms type=complete
            for (int k0_lane = 0; k0_lane < 8; ++k0_lane) {
#pragma HLS unroll
              const int product = int(q_token[n0_lane * 8 + k0_lane]) * int(w_token[k0_lane * 4 + n2_lane]);
#pragma HLS bind_op variable=product op=mul impl=dsp
              terms[k0_lane] = product;
            }
            const int partial = reduce_tree<Add>(terms);
            const int total = k0 == 0 ? partial : acc_1[n2][n1][n0_lane][n2_lane] + partial;
            acc_1[n2][n1][n0_lane][n2_lane] = total;
            acc_token[n0_lane * 4 + n2_lane] = total;
          }
        }
        if (k0 == 1) {
          acc.write(acc_token);
        }
      }
    }
  }
}

