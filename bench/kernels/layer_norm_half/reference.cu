// out = (x - mean) / sqrt(variance + epsilon) * weight + bias along the row, in double precision.
#include <cuda_fp16.h>

__global__ void layer_norm_half(const __half* x, const float* weight, const float* bias, __half* out, int rows,
                                int columns, float epsilon) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double mean = 0.0;
  for (int c = 0; c < columns; ++c)
    mean += __half2float(x[r * columns + c]);
  mean /= columns;
  double variance = 0.0;
  for (int c = 0; c < columns; ++c) {
    const double d = __half2float(x[r * columns + c]) - mean;
    variance += d * d;
  }
  variance /= columns;
  for (int c = 0; c < columns; ++c) {
    const double d = __half2float(x[r * columns + c]) - mean;
    out[r * columns + c] = __double2half(d / sqrt(variance + epsilon) * weight[c] + bias[c]);
  }
}
