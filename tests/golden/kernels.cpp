#include "layer_norm_kernels.h"
#include "layer_norm_tasks.h"

extern "C" {
void layer_norm_k0(const ap_uint<512>* x_0, ap_uint<512>* total_0) {
#pragma HLS interface mode=m_axi port=x_0 bundle=gmem_x_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=m_axi port=total_0 bundle=gmem_x_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=return
#pragma HLS dataflow
  hls::stream<f32x4, 15> op_total_in0("op_total_in0");
#pragma HLS bind_storage variable=op_total_in0 type=fifo impl=srl
  hls::stream<float, 5> store_total_in("store_total_in");
#pragma HLS bind_storage variable=store_total_in type=fifo impl=srl

  load_f32x4(op_total_in0, x_0);
  op_total(op_total_in0, store_total_in);
  store_float(store_total_in, total_0);
}
}
#include "layer_norm_kernels.h"
#include "layer_norm_tasks.h"

extern "C" {
void layer_norm_k1(
    const ap_uint<512>* total_0, const ap_uint<512>* x_k1_0, ap_uint<512>* squares_0, ap_uint<512>* c_0) {
#pragma HLS interface mode=m_axi port=total_0 bundle=gmem_total_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=m_axi port=x_k1_0 bundle=gmem_x_k1_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=m_axi port=squares_0 bundle=gmem_x_k1_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=m_axi port=c_0 bundle=gmem_total_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=return
#pragma HLS dataflow
  hls::stream<float, 5> convert_total_to_op_c_in1_in("convert_total_to_op_c_in1_in");
#pragma HLS bind_storage variable=convert_total_to_op_c_in1_in type=fifo impl=srl
  hls::stream<f32x4, 15> op_c_in0("op_c_in0");
#pragma HLS bind_storage variable=op_c_in0 type=fifo impl=srl
  hls::stream<float, 15> op_c_in1("op_c_in1");
#pragma HLS bind_storage variable=op_c_in1 type=fifo impl=srl
  hls::stream<f32x4, 15> fork_c_k1_in("fork_c_k1_in");
#pragma HLS bind_storage variable=fork_c_k1_in type=fifo impl=srl
  hls::stream<f32x4, 15> op_squares_in0("op_squares_in0");
#pragma HLS bind_storage variable=op_squares_in0 type=fifo impl=srl
  hls::stream<float, 5> store_squares_in("store_squares_in");
#pragma HLS bind_storage variable=store_squares_in type=fifo impl=srl
  hls::stream<f32x4, 15> store_c_in("store_c_in");
#pragma HLS bind_storage variable=store_c_in type=fifo impl=srl

  load_float(convert_total_to_op_c_in1_in, total_0);
  convert_in1_float(convert_total_to_op_c_in1_in, op_c_in1);
  load_f32x4(op_c_in0, x_k1_0);
  op_c(op_c_in0, op_c_in1, fork_c_k1_in);
  fork_c_k1(fork_c_k1_in, op_squares_in0, store_c_in);
  op_squares(op_squares_in0, store_squares_in);
  store_float(store_squares_in, squares_0);
  store_f32x4(store_c_in, c_0);
}
}
#include "layer_norm_kernels.h"
#include "layer_norm_tasks.h"

extern "C" {
void layer_norm_k2(
    const ap_uint<512>* beta_k2_0, const ap_uint<512>* c_0, const ap_uint<512>* gamma_k2_0,
    const ap_uint<512>* squares_0, const ap_uint<512>* x_k2_0, ap_uint<512>* y_0, float eps) {
#pragma HLS interface mode=m_axi port=beta_k2_0 bundle=gmem_beta_k2_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=m_axi port=c_0 bundle=gmem_c_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=gamma_k2_0 bundle=gmem_gamma_k2_0 offset=slave depth=1 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=squares_0 bundle=gmem_squares_0 offset=slave depth=1 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=x_k2_0 bundle=gmem_x_k2_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16
#pragma HLS interface mode=m_axi port=y_0 bundle=gmem_beta_k2_0 offset=slave depth=4 max_read_burst_length=16 num_read_outstanding=16 max_write_burst_length=16 num_write_outstanding=16
#pragma HLS interface mode=s_axilite port=eps
#pragma HLS interface mode=s_axilite port=return
#pragma HLS dataflow
  hls::stream<float, 5> convert_squares_to_op_y_in1_in("convert_squares_to_op_y_in1_in");
#pragma HLS bind_storage variable=convert_squares_to_op_y_in1_in type=fifo impl=srl
  hls::stream<f32x4, 15> op_y_in0("op_y_in0");
#pragma HLS bind_storage variable=op_y_in0 type=fifo impl=srl
  hls::stream<float, 15> op_y_in1("op_y_in1");
#pragma HLS bind_storage variable=op_y_in1 type=fifo impl=srl
  hls::stream<f32x4, 3> op_y_in3("op_y_in3");
#pragma HLS bind_storage variable=op_y_in3 type=fifo impl=srl
  hls::stream<f32x4, 3> op_y_in4("op_y_in4");
#pragma HLS bind_storage variable=op_y_in4 type=fifo impl=srl
  hls::stream<f32x4, 15> op_y_in5("op_y_in5");
#pragma HLS bind_storage variable=op_y_in5 type=fifo impl=srl
  hls::stream<f32x4, 15> store_y_in("store_y_in");
#pragma HLS bind_storage variable=store_y_in type=fifo impl=srl

  load_k2_f32x4(op_y_in4, beta_k2_0);
  load_f32x4(op_y_in0, c_0);
  load_k2_f32x4(op_y_in3, gamma_k2_0);
  load_float(convert_squares_to_op_y_in1_in, squares_0);
  convert_in1_float(convert_squares_to_op_y_in1_in, op_y_in1);
  load_f32x4(op_y_in5, x_k2_0);
  op_y(op_y_in0, op_y_in1, op_y_in3, op_y_in4, op_y_in5, store_y_in, eps);
  store_f32x4(store_y_in, y_0);
}
}
