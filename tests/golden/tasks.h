// Tasks of layer-norm: one function is one dataflow process.
#pragma once

#include <ap_int.h>
#include <hls_stream.h>
#include <hls_vector.h>

using f32x12 = hls::vector<float, 12>;

void load_beta(hls::stream<f32x12>& out, const ap_uint<512>* memory0);
void load_gamma(hls::stream<f32x12>& out, const ap_uint<512>* memory0);
void load_x(hls::stream<f32x12>& out, const ap_uint<512>* memory0);
void fork_x(
    hls::stream<f32x12>& in, hls::stream<f32x12>& out, hls::stream<f32x12>& out_1, hls::stream<f32x12>& out_2);
void op_total(hls::stream<f32x12>& x, hls::stream<float>& total);
void op_c(hls::stream<f32x12>& x, hls::stream<float>& total, hls::stream<f32x12>& c);
void fork_c(hls::stream<f32x12>& in, hls::stream<f32x12>& out, hls::stream<f32x12>& out_1);
void op_squares(hls::stream<f32x12>& c, hls::stream<float>& squares);
void op_y(
    hls::stream<f32x12>& c, hls::stream<float>& squares, hls::stream<f32x12>& gamma, hls::stream<f32x12>& beta,
    hls::stream<f32x12>& x, hls::stream<f32x12>& y, float eps);
void store_y(hls::stream<f32x12>& in, ap_uint<512>* memory0);
