// C = A B for each of many 16 x 16 matrices, in double precision.
__global__ void batched_gemm(const float* A, const float* B, float* C, int batch) {
  int at = blockIdx.x * 256;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    double sum = 0.0;
    for (int k = 0; k < 16; ++k) sum += (double)A[at + i / 16 * 16 + k] * (double)B[at + k * 16 + i % 16];
    C[at + i] = (float)sum;
  }
}
