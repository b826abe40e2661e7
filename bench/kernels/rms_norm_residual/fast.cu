// One block a row; the sum stays in registers (16 values a thread) between the two passes.
constexpr int kThreads = 256;
constexpr int kHeld = 16;

__device__ __forceinline__ float block_sum(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void __launch_bounds__(kThreads) rms_norm_residual(const float* __restrict__ x,
                                                              float* __restrict__ residual,
                                                              const float* __restrict__ weight,
                                                              float* __restrict__ out, int rows, int columns,
                                                              float epsilon) {
  __shared__ float parts[kThreads / 32];
  x += static_cast<size_t>(blockIdx.x) * columns;
  residual += static_cast<size_t>(blockIdx.x) * columns;
  out += static_cast<size_t>(blockIdx.x) * columns;
  float squares = 0.0f;
  if (columns % 4 == 0 && columns <= kHeld * kThreads) {
    float4 held[kHeld / 4];
#pragma unroll
    for (int k = 0; k < kHeld / 4; ++k) {
      const int c = 4 * (threadIdx.x + k * kThreads);
      if (c < columns) {
        const float4 a = *reinterpret_cast<const float4*>(x + c);
        const float4 b = *reinterpret_cast<const float4*>(residual + c);
        held[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        squares += held[k].x * held[k].x + held[k].y * held[k].y + held[k].z * held[k].z + held[k].w * held[k].w;
      }
    }
    const float scale = rsqrtf(block_sum(squares, parts) / columns + epsilon);
#pragma unroll
    for (int k = 0; k < kHeld / 4; ++k) {
      const int c = 4 * (threadIdx.x + k * kThreads);
      if (c < columns) {
        const float4 w = *reinterpret_cast<const float4*>(weight + c);
        *reinterpret_cast<float4*>(residual + c) = held[k];
        *reinterpret_cast<float4*>(out + c) =
            make_float4(held[k].x * scale * w.x, held[k].y * scale * w.y, held[k].z * scale * w.z,
                        held[k].w * scale * w.w);
      }
    }
    return;
  }
  // The row's first 4096 values stay in registers, the rest is read again.
  float held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int c = threadIdx.x + k * kThreads;
    if (c < columns) {
      held[k] = x[c] + residual[c];
      squares += held[k] * held[k];
    }
  }
  for (int c = threadIdx.x + kHeld * kThreads; c < columns; c += kThreads) {
    const float v = x[c] + residual[c];
    residual[c] = v;
    squares += v * v;
  }
  const float scale = rsqrtf(block_sum(squares, parts) / columns + epsilon);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int c = threadIdx.x + k * kThreads;
    if (c < columns) {
      residual[c] = held[k];
      out[c] = held[k] * scale * weight[c];
    }
  }
  for (int c = threadIdx.x + kHeld * kThreads; c < columns; c += kThreads) out[c] = residual[c] * scale * weight[c];
}
