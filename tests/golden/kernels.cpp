#include "layer_norm_kernels.h"
#include "layer_norm_tasks.h"

extern "C" {
  void layer_norm_k0(
      const ap_uint<512>* beta_0, const ap_uint<512>* gamma_0, const ap_uint<512>* x_0, ap_uint<512>* y_0,
      float eps) {
#pragma HLS interface mode=m_axi port=beta_0 bundle=gmem_beta_0 offset=slave depth=1 max_read_burst_length=64 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=gamma_0 bundle=gmem_gamma_0 offset=slave depth=1 max_read_burst_length=64 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=x_0 bundle=gmem_x_0 offset=slave depth=5 max_read_burst_length=64 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=y_0 bundle=gmem_y_0 offset=slave depth=5 max_write_burst_length=64 num_write_outstanding=16
#pragma HLS dataflow
    hls::stream<f32x12, 2> fork_x_in("fork_x_in");
#pragma HLS bind_storage variable=fork_x_in type=fifo impl=srl
    hls::stream<f32x12, 2> op_total_in0("op_total_in0");
#pragma HLS bind_storage variable=op_total_in0 type=fifo impl=srl
    hls::stream<f32x12, 5> op_c_in0("op_c_in0");
#pragma HLS bind_storage variable=op_c_in0 type=fifo impl=lutram
    hls::stream<float, 5> op_c_in1("op_c_in1");
#pragma HLS bind_storage variable=op_c_in1 type=fifo impl=srl
    hls::stream<f32x12, 2> fork_c_in("fork_c_in");
#pragma HLS bind_storage variable=fork_c_in type=fifo impl=srl
    hls::stream<f32x12, 2> op_squares_in0("op_squares_in0");
#pragma HLS bind_storage variable=op_squares_in0 type=fifo impl=srl
    hls::stream<f32x12, 5> op_y_in0("op_y_in0");
#pragma HLS bind_storage variable=op_y_in0 type=fifo impl=lutram
    hls::stream<float, 5> op_y_in1("op_y_in1");
#pragma HLS bind_storage variable=op_y_in1 type=fifo impl=srl
    hls::stream<f32x12, 2> op_y_in3("op_y_in3");
#pragma HLS bind_storage variable=op_y_in3 type=fifo impl=srl
    hls::stream<f32x12, 2> op_y_in4("op_y_in4");
#pragma HLS bind_storage variable=op_y_in4 type=fifo impl=srl
    hls::stream<f32x12, 5> op_y_in5("op_y_in5");
#pragma HLS bind_storage variable=op_y_in5 type=fifo impl=lutram
    hls::stream<f32x12, 2> store_y_in("store_y_in");
#pragma HLS bind_storage variable=store_y_in type=fifo impl=srl

    load_beta(op_y_in4, beta_0);
    load_gamma(op_y_in3, gamma_0);
    load_x(fork_x_in, x_0);
    fork_x(fork_x_in, op_total_in0, op_c_in0, op_y_in5);
    op_total(op_total_in0, op_c_in1);
    op_c(op_c_in0, op_c_in1, fork_c_in);
    fork_c(fork_c_in, op_squares_in0, op_y_in0);
    op_squares(op_squares_in0, op_y_in1);
    op_y(op_y_in0, op_y_in1, op_y_in3, op_y_in4, op_y_in5, store_y_in, eps);
    store_y(store_y_in, y_0);
  }
}
