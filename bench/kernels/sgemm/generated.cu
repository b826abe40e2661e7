// contract ik,kj->ij; collapse(2)
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  int v1 = M * N;
  if (v0 >= v1) return;
  int v2 = v0 / N;
  int v3 = v0 % N;
  float v4 = 0.0f;
  int v5 = 0;
  for (;;) {
    if (v5 >= K) break;
    int v6 = v2 * K + v5;
    float v7 = A[v6];
    int v8 = v5 * N + v3;
    float v9 = B[v8];
    float v10 = v7 * v9;
    v4 = v4 + v10;
    v5 = v5 + 1;
  }
  float v11 = alpha * v4;
  float v12 = C[v0];
  float v13 = beta * v12;
  float v14 = v11 + v13;
  C[v0] = v14;
}
