#include <cuda_fp16.h>
template <typename T> __device__ __forceinline__ T silu(const T& x) { return (T)(((float)x) / (1.0f + expf((float)-x))); }
template <typename T> __global__ void k(T* __restrict__ out, const T* __restrict__ input, const int d) {
  const int64_t token_idx = blockIdx.x;
  for (int64_t idx = threadIdx.x; idx < d; idx += blockDim.x) {
    const T x = __ldg(&input[token_idx * 2 * d + idx]);
    const T y = __ldg(&input[token_idx * 2 * d + d + idx]);
    out[token_idx * d + idx] = silu(x) * y;
  }
}
void launch(__half* out, const __half* in, int tokens, int d) { k<__half><<<tokens, min(d, 1024)>>>(out, in, d); }
