// op_y: y[n0] = f(total[n0], residual[n0], factor[n0]). One iteration, 3 points side by side.
//   reads total: itensor<3xi32, iter_space: []*[], iter_map: ()->(0)>
//   reads residual: itensor<3xi8, iter_space: []*[], iter_map: ()->(0)>
//   reads factor: itensor<3xi32, iter_space: []*[], iter_map: ()->(0)>
//   writes y: itensor<3xi8, iter_space: []*[], iter_map: ()->(0)>
void op_y(hls::stream<i32x3>& total, hls::stream<i8x3>& residual, hls::stream<i32x3>& factor, hls::stream<i8x3>& y) {
#pragma HLS pipeline II=1 style=flp
  const i32x3 total_token = total.read();
  const i8x3 residual_token = residual.read();
  const i32x3 factor_token = factor.read();
  i8x3 y_token;
  for (int n0_lane = 0; n0_lane < 3; ++n0_lane) {
#pragma HLS unroll
    const int64_t product = int64_t(ap_int<27>(total_token[n0_lane])) * int64_t(ap_int<18>(factor_token[n0_lane]));
#pragma HLS bind_op variable=product op=mul impl=dsp
    const int64_t product_1 = int64_t(residual_token[n0_lane]) * 65536LL;
#pragma HLS bind_op variable=product_1 op=mul impl=dsp
    const int64_t sum = product + product_1;
    const int64_t sum_1 = sum + 1048576LL;
    const int64_t shifted = sum_1 >> 21LL;
    const bool condition = int(shifted) > 127;
    const bool condition_1 = int(shifted) < -127;
    const int selected = condition_1 ? -127 : int(shifted);
    const int selected_1 = condition ? 127 : selected;
    y_token[n0_lane] = ap_int<8>(selected_1);
  }
  y.write(y_token);
}

