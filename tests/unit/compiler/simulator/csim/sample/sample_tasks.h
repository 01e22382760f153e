// A softmax-like design in the style of the emitter: load, fork, reduce, scale, store.
#pragma once

#include <cstring>

#include "ap_int.h"
#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"

#define ROWS 16

typedef hls::vector<float, 4> f32x4;
typedef hls::vector<ap_int<4>, 4> i4x4;

void load_x(const ap_uint<512>* mem, hls::stream<f32x4>& out);
void fork_x(hls::stream<f32x4>& in, hls::stream<f32x4>& out0, hls::stream<f32x4>& out1);
void reduce_sum(hls::stream<f32x4>& in, hls::stream<float>& out);
void scale(hls::stream<f32x4>& in, hls::stream<float>& sum, hls::stream<i4x4>& weight, hls::stream<f32x4>& out,
           float gain);
void load_w(const ap_uint<512>* mem, hls::stream<i4x4>& out, int words);
void store_y(hls::stream<f32x4>& in, ap_uint<512>* mem, int rows);
