#define N 64
__global__ void mm_fixed(const float (*a)[N], const float (*b)[N], float (*c)[N]) {
  int i = threadIdx.y + blockIdx.y * blockDim.y, j = threadIdx.x + blockIdx.x * blockDim.x;
  float s = 0;
  for (int k = 0; k < N; ++k) s += a[i][k] * b[k][j];
  c[i][j] = s;
}
