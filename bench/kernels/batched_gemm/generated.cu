// contract bik,bkj->bij with i = j = k = 16, inner loop unrolled
__global__ void batched_gemm(const float* A, const float* B, float* C, int batch) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= batch * 256) return;
  int v1 = v0 / 256;
  int v2 = v0 / 16 % 16;
  int v3 = v0 % 16;
  int v4 = v1 * 256 + v2 * 16;
  int v5 = v1 * 256 + v3;
  float v6 = A[v4] * B[v5];
  float v7 = v6 + A[v4 + 1] * B[v5 + 16];
  float v8 = v7 + A[v4 + 2] * B[v5 + 32];
  float v9 = v8 + A[v4 + 3] * B[v5 + 48];
  float v10 = v9 + A[v4 + 4] * B[v5 + 64];
  float v11 = v10 + A[v4 + 5] * B[v5 + 80];
  float v12 = v11 + A[v4 + 6] * B[v5 + 96];
  float v13 = v12 + A[v4 + 7] * B[v5 + 112];
  float v14 = v13 + A[v4 + 8] * B[v5 + 128];
  float v15 = v14 + A[v4 + 9] * B[v5 + 144];
  float v16 = v15 + A[v4 + 10] * B[v5 + 160];
  float v17 = v16 + A[v4 + 11] * B[v5 + 176];
  float v18 = v17 + A[v4 + 12] * B[v5 + 192];
  float v19 = v18 + A[v4 + 13] * B[v5 + 208];
  float v20 = v19 + A[v4 + 14] * B[v5 + 224];
  float v21 = v20 + A[v4 + 15] * B[v5 + 240];
  C[v0] = v21;
}
