// Tasks of layer-norm: a call is a dataflow process.
#pragma once

#include <ap_int.h>
#include <hls_stream.h>
#include <hls_vector.h>

using f32x4 = hls::vector<float, 4>;

void load_f32x4(hls::stream<f32x4>& out, const ap_uint<512>* memory0);
void op_total(hls::stream<f32x4>& x, hls::stream<float>& total);
void store_float(hls::stream<float>& in, ap_uint<512>* memory0);
void load_float(hls::stream<float>& out, const ap_uint<512>* memory0);
void convert_in1_float(hls::stream<float>& in, hls::stream<float>& out);
void op_c(hls::stream<f32x4>& x, hls::stream<float>& total, hls::stream<f32x4>& c);
void fork_c_k1(hls::stream<f32x4>& in, hls::stream<f32x4>& out, hls::stream<f32x4>& out_1);
void op_squares(hls::stream<f32x4>& c, hls::stream<float>& squares);
void store_f32x4(hls::stream<f32x4>& in, ap_uint<512>* memory0);
void load_k2_f32x4(hls::stream<f32x4>& out, const ap_uint<512>* memory0);
void op_y(
    hls::stream<f32x4>& c, hls::stream<float>& squares, hls::stream<f32x4>& gamma, hls::stream<f32x4>& beta,
    hls::stream<f32x4>& x, hls::stream<f32x4>& y, float eps);
