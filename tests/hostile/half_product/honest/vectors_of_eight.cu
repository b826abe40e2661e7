// Sixteen bytes at a time where rows begin there.
#include <cuda_fp16.h>
__global__ void k(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  const __half* a = A + row * K;
  const __half* b = B + col * K;
  float sum = 0.0f;
  int i = 0;
  if (((reinterpret_cast<size_t>(a) | reinterpret_cast<size_t>(b)) & 15) == 0) {
    for (; i + 8 <= K; i += 8) {
      uint4 left = *reinterpret_cast<const uint4*>(a + i), right = *reinterpret_cast<const uint4*>(b + i);
      const __half2* p = reinterpret_cast<const __half2*>(&left);
      const __half2* q = reinterpret_cast<const __half2*>(&right);
      for (int j = 0; j < 4; ++j) {
        float2 u = __half22float2(p[j]), v = __half22float2(q[j]);
        sum += u.x * v.x + u.y * v.y;
      }
    }
  }
  for (; i < K; ++i) sum += __half2float(a[i]) * __half2float(b[i]);
  C[row * N + col] = __float2half(alpha * sum);
}
