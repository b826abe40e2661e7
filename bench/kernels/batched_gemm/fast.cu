// Four matrices a block, 64 threads each: one 16-byte load of A and of B a thread into shared memory, four elements
// of a row a thread, one 16-byte store.
__global__ void __launch_bounds__(256) batched_gemm(const float* __restrict__ A, const float* __restrict__ B,
                                                    float* __restrict__ C, int batch) {
  __shared__ __align__(16) float left[4][16][20];
  __shared__ __align__(16) float right[4][16][16];
  const int which = threadIdx.x / 64;
  const int inside = threadIdx.x % 64;
  const int row = inside / 4;
  const int column = inside % 4 * 4;
  const int matrix = blockIdx.x * 4 + which;
  const size_t at = static_cast<size_t>(matrix) * 256 + 4 * inside;
  if (matrix < batch) {
    *reinterpret_cast<float4*>(&left[which][row][column]) = *reinterpret_cast<const float4*>(A + at);
    *reinterpret_cast<float4*>(&right[which][row][column]) = *reinterpret_cast<const float4*>(B + at);
  }
  __syncthreads();
  if (matrix >= batch) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int k4 = 0; k4 < 16; k4 += 4) {
    const float4 a4 = *reinterpret_cast<const float4*>(&left[which][row][k4]);
    const float a[4] = {a4.x, a4.y, a4.z, a4.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float4 b = *reinterpret_cast<const float4*>(&right[which][k4 + k][column]);
      sum.x = fmaf(a[k], b.x, sum.x);
      sum.y = fmaf(a[k], b.y, sum.y);
      sum.z = fmaf(a[k], b.z, sum.z);
      sum.w = fmaf(a[k], b.w, sum.w);
    }
  }
  *reinterpret_cast<float4*>(C + at) = sum;
}
