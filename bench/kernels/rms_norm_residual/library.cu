// One block a token.
#define DIVIDE_UP(a, b) (((a) + (b)-1) / (b))

namespace reduction {
template <int kBlock>
__device__ float reduce(float value) {
  __shared__ float slots[kBlock];
  slots[threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int width = kBlock / 2; width >= 1; width >>= 1) {
    if (threadIdx.x < width) {
      slots[threadIdx.x] = slots[threadIdx.x] + slots[threadIdx.x + width];
    }
    __syncthreads();
  }
  return slots[0];
}
}  // namespace reduction

__global__ void rms_norm_residual(const float* __restrict__ x, float* __restrict__ residual,
                                  const float* __restrict__ weight, float* __restrict__ out, int rows, int columns,
                                  float epsilon) {
  const size_t start = static_cast<size_t>(blockIdx.x) * columns;
  const int rounds = DIVIDE_UP(columns, 256);
  float squares = 0.0f;
  for (int round = 0; round < rounds; ++round) {
    const int c = round * 256 + threadIdx.x;
    if (c < columns) {
      const float v = x[start + c] + residual[start + c];
      residual[start + c] = v;
      squares += v * v;
    }
  }
  const float scale = rsqrtf(reduction::reduce<256>(squares) / columns + epsilon);
  for (int round = 0; round < rounds; ++round) {
    const int c = round * 256 + threadIdx.x;
    if (c < columns) {
      out[start + c] = residual[start + c] * scale * weight[c];
    }
  }
}
