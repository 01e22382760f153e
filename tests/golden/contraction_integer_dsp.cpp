// op_acc: acc[n0, n1, n2] = add over k0 of int(q[n0, n1, k0]) * int(w[n1, k0, n2]). 32 iterations, one every 2
// cycles, 60 points side by side.
//   reads q: itensor<3x1x4xi8, iter_space: [2,4,2,2]*[8,1,4,1], iter_map: (d0,d1,d2,d3)->(0,d3,d0+d2)>
//   reads w: itensor<1x4x5xi4, iter_space: [2,4,2,2]*[8,5,4,1], iter_map: (d0,d1,d2,d3)->(d3,d0+d2,d1)>
//   writes acc: itensor<3x1x5xi32, iter_space: [4,2]*[5,1], iter_map: (d0,d1)->(0,d1,d0)>
void op_acc(hls::stream<i8x12>& q, hls::stream<i4x20>& w, hls::stream<i32x15>& acc) {
  i8x12 q_token;
  i4x20 w_token;
  int acc_1[4][2][3][5];
#pragma HLS array_partition variable=acc_1 type=complete dim=3
#pragma HLS array_partition variable=acc_1 type=complete dim=4
#pragma HLS bind_storage variable=acc_1 type=ram_s2p impl=lutram
#pragma HLS dependence variable=acc_1 type=inter direction=RAW distance=2 dependent=true
  for (int k0_tile = 0; k0_tile < 2; ++k0_tile) {
    for (int n2 = 0; n2 < 4; ++n2) {
      for (int k0 = 0; k0 < 2; ++k0) {
        for (int n1 = 0; n1 < 2; ++n1) {
#pragma HLS pipeline II=2 style=flp
          q_token = q.read();
          w_token = w.read();
          i32x15 acc_token;
          for (int n0_lane = 0; n0_lane < 3; ++n0_lane) {
#pragma HLS unroll
            for (int n2_lane = 0; n2_lane < 5; ++n2_lane) {
#pragma HLS unroll
              int terms[4];
#pragma HLS array_partition variable=terms type=complete
              for (int k0_lane = 0; k0_lane < 4; ++k0_lane) {
#pragma HLS unroll
                const int product = int(q_token[n0_lane * 4 + k0_lane]) * int(w_token[k0_lane * 5 + n2_lane]);
#pragma HLS bind_op variable=product op=mul impl=dsp
                terms[k0_lane] = product;
              }
              const int partial = reduce_tree<Add>(terms);
              const int total = k0_tile == 0 && k0 == 0 ? partial : acc_1[n2][n1][n0_lane][n2_lane] + partial;
              acc_1[n2][n1][n0_lane][n2_lane] = total;
              acc_token[n0_lane * 5 + n2_lane] = total;
            }
          }
          if (k0_tile == 1 && k0 == 1) {
            acc.write(acc_token);
          }
        }
      }
    }
  }
}

