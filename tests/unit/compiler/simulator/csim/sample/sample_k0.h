#pragma once

#include "ap_int.h"

void sample_k0(const ap_uint<512>* x, const ap_uint<512>* w, ap_uint<512>* y, float gain, int rows);
