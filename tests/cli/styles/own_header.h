#pragma once
#include <cmath>
#define OWN_FACTOR 3.0f
__device__ inline float own_function(float x) {
  return OWN_FACTOR * fabsf(x);
}
inline void host_only() {}
