// One block a row, read once into registers, one exponential an element, two reductions by shuffles.
constexpr int kThreads = 256;
constexpr int kHeld = 16;

__device__ __forceinline__ float block_max(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

__device__ __forceinline__ float block_sum(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

template <bool kVector>
__device__ __forceinline__ void softmax_row(const float* __restrict__ x, float* __restrict__ out, int columns,
                                            float* parts) {
  constexpr int kWidth = kVector ? 4 : 1;
  float held[kHeld];
  float peak = -INFINITY;
#pragma unroll
  for (int k = 0; k < kHeld; k += kWidth) {
    const int c = threadIdx.x * kWidth + k * kThreads;
    if (kVector) {
      float4 v = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      if (c < columns) v = *reinterpret_cast<const float4*>(x + c);
      held[k] = v.x;
      held[k + 1] = v.y;
      held[k + 2] = v.z;
      held[k + 3] = v.w;
      peak = fmaxf(peak, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    } else {
      held[k] = c < columns ? x[c] : -INFINITY;
      peak = fmaxf(peak, held[k]);
    }
  }
  peak = block_max(peak, parts);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    held[k] = __expf(held[k] - peak);
    sum += held[k];
  }
  const float inverse = 1.0f / block_sum(sum, parts + kThreads / 32);
#pragma unroll
  for (int k = 0; k < kHeld; k += kWidth) {
    const int c = threadIdx.x * kWidth + k * kThreads;
    if (c >= columns) break;
    if (kVector) {
      *reinterpret_cast<float4*>(out + c) = make_float4(held[k] * inverse, held[k + 1] * inverse,
                                                        held[k + 2] * inverse, held[k + 3] * inverse);
    } else {
      out[c] = held[k] * inverse;
    }
  }
}

__global__ void __launch_bounds__(kThreads) softmax_rows(const float* __restrict__ x, float* __restrict__ out,
                                                         int rows, int columns) {
  __shared__ float parts[2 * kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  out += static_cast<size_t>(blockIdx.x) * columns;
  if (columns <= kHeld * kThreads) {
    if (columns % 4 == 0) {
      softmax_row<true>(x, out, columns, parts);
    } else {
      softmax_row<false>(x, out, columns, parts);
    }
    return;
  }
  float peak = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += kThreads) peak = fmaxf(peak, x[c]);
  peak = block_max(peak, parts);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += __expf(x[c] - peak);
  const float inverse = 1.0f / block_sum(sum, parts + kThreads / 32);
  for (int c = threadIdx.x; c < columns; c += kThreads) out[c] = __expf(x[c] - peak) * inverse;
}
