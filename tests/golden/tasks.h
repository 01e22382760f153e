// Tasks of layer-norm: one function is one dataflow process.
#pragma once

#include <ap_int.h>
#include <hls_stream.h>
#include <hls_vector.h>

using f32x2 = hls::vector<float, 2>;
using f32x6 = hls::vector<float, 6>;

void load_x(hls::stream<f32x6>& out, const ap_uint<512>* memory0);
void op_total(hls::stream<f32x6>& x, hls::stream<float>& total);
void store_total(hls::stream<float>& in, ap_uint<512>* memory0);
void load_total_k1(hls::stream<float>& out, const ap_uint<512>* memory0);
void convert_total_to_op_c_in1(hls::stream<float>& in, hls::stream<float>& out);
void load_x_k1(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void op_c(hls::stream<f32x2>& x, hls::stream<float>& total, hls::stream<f32x2>& c);
void store_c(hls::stream<f32x2>& in, ap_uint<512>* memory0);
void load_c_k2(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void convert_c_to_op_squares_in0(hls::stream<f32x2>& in, hls::stream<f32x6>& out);
void op_squares(hls::stream<f32x6>& c, hls::stream<float>& squares);
void store_squares(hls::stream<float>& in, ap_uint<512>* memory0);
void load_beta_k3(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void load_c_k3(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void load_gamma_k3(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void load_squares_k3(hls::stream<float>& out, const ap_uint<512>* memory0);
void convert_squares_to_op_y_in1(hls::stream<float>& in, hls::stream<float>& out);
void load_x_k3(hls::stream<f32x2>& out, const ap_uint<512>* memory0);
void op_y(
    hls::stream<f32x2>& c, hls::stream<float>& squares, hls::stream<f32x2>& gamma, hls::stream<f32x2>& beta,
    hls::stream<f32x2>& x, hls::stream<f32x2>& y, float eps);
void store_y(hls::stream<f32x2>& in, ap_uint<512>* memory0);
