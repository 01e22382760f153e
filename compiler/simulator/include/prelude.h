// What the sources of a design include, for the compiler to read once a machine: they need nothing of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ap_int.h"
#include "hls_math.h"
#include "hls_stream.h"
#include "hls_vector.h"
