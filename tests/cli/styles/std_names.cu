#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

__global__ void row_max(const float* m, float* out, std::int32_t rows, std::int32_t cols) {
  const std::int32_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float best = -std::numeric_limits<float>::infinity();
  for (std::int32_t c = 0; c < cols; ++c)
    best = std::max(best, std::abs(m[row * cols + c]));
  out[row] = best;
}
