// out = exp(x - row maximum) over its sum along the row, in double precision.
#include <cuda_fp16.h>

__global__ void softmax_half(const __half* x, __half* out, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double peak = -INFINITY;
  for (int c = 0; c < columns; ++c)
    peak = fmax(peak, (double)__half2float(x[r * columns + c]));
  double sum = 0.0;
  for (int c = 0; c < columns; ++c)
    sum += exp((double)__half2float(x[r * columns + c]) - peak);
  for (int c = 0; c < columns; ++c) {
    out[r * columns + c] = __double2half(exp((double)__half2float(x[r * columns + c]) - peak) / sum);
  }
}
