// The second parts are left out.
__device__ float first_part(float value) { return __uint_as_float(__float_as_uint(value) & 0xffffe000u); }
__device__ float second_part(float value) {
  unsigned int rounded;
  float rest = value - first_part(value);
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(rest));
  return __uint_as_float(rounded);
}
__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int i = 0; i < K; ++i) {
    float a = A[row * K + i], b = B[i * N + col];
    sum += first_part(a) * first_part(b);
  }
  C[row * N + col] = sum;
}
