// One block a row, read once into registers (16 values a thread, 16 bytes at a time where rows allow it),
// two sums by shuffles. Rows of more than 4096 are read three times.
constexpr int kThreads = 256;
constexpr int kHeld = 16;

__device__ __forceinline__ float block_sum(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

template <bool kVector>
__device__ __forceinline__ void norm_row(const float* __restrict__ x, const float* __restrict__ gamma,
                                         const float* __restrict__ beta, float* __restrict__ out, int columns,
                                         float epsilon, float* parts) {
  constexpr int kWidth = kVector ? 4 : 1;
  float held[kHeld];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kHeld; k += kWidth) {
    const int c = threadIdx.x * kWidth + k * kThreads;
    if (c >= columns) break;
    if (kVector) {
      const float4 v = *reinterpret_cast<const float4*>(x + c);
      held[k] = v.x;
      held[k + 1] = v.y;
      held[k + 2] = v.z;
      held[k + 3] = v.w;
      sum += (v.x + v.y) + (v.z + v.w);
    } else {
      held[k] = x[c];
      sum += held[k];
    }
  }
  const float mean = block_sum(sum, parts) / columns;
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kHeld; k += kWidth) {
    if (threadIdx.x * kWidth + k * kThreads >= columns) break;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) squares += (held[k + j] - mean) * (held[k + j] - mean);
  }
  const float scale = rsqrtf(block_sum(squares, parts) / columns + epsilon);
#pragma unroll
  for (int k = 0; k < kHeld; k += kWidth) {
    const int c = threadIdx.x * kWidth + k * kThreads;
    if (c >= columns) break;
    if (kVector) {
      const float4 g = *reinterpret_cast<const float4*>(gamma + c);
      const float4 b = *reinterpret_cast<const float4*>(beta + c);
      *reinterpret_cast<float4*>(out + c) = make_float4(
          fmaf((held[k] - mean) * scale, g.x, b.x), fmaf((held[k + 1] - mean) * scale, g.y, b.y),
          fmaf((held[k + 2] - mean) * scale, g.z, b.z), fmaf((held[k + 3] - mean) * scale, g.w, b.w));
    } else {
      out[c] = fmaf((held[k] - mean) * scale, gamma[c], beta[c]);
    }
  }
}

__global__ void __launch_bounds__(kThreads) layer_norm(const float* __restrict__ x, const float* __restrict__ gamma,
                                                       const float* __restrict__ beta, float* __restrict__ out,
                                                       int rows, int columns, float epsilon) {
  __shared__ float parts[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  out += static_cast<size_t>(blockIdx.x) * columns;
  if (columns <= kHeld * kThreads) {
    if (columns % 4 == 0) {
      norm_row<true>(x, gamma, beta, out, columns, epsilon, parts);
    } else {
      norm_row<false>(x, gamma, beta, out, columns, epsilon, parts);
    }
    return;
  }
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += x[c];
  const float mean = block_sum(sum, parts) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) squares += (x[c] - mean) * (x[c] - mean);
  const float scale = rsqrtf(block_sum(squares, parts) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += kThreads) out[c] = fmaf((x[c] - mean) * scale, gamma[c], beta[c]);
}
