// Rows of A arrive in shared memory by asynchronous copies.
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[64];
  int row = blockIdx.y, col = blockIdx.x * 64 + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < K; t += 64) {
    if (t + threadIdx.x < K) {
      unsigned at = (unsigned)__cvta_generic_to_shared(a + threadIdx.x);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(A + row * K + t + threadIdx.x));
    }
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    for (int i = 0; i < min(64, K - t); ++i)
      if (col < N) sum += a[i] * B[(t + i) * N + col];
    __syncthreads();
  }
  if (col < N) C[row * N + col] = sum;
}
