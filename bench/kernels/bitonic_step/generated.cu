// out = select(i ^ j > i, select(i & k, max, min), select(...)), written in place by the lower of two
__global__ void bitonic_step(float* data, int n, int j, int k) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= n) return;
  int v1 = v0 ^ j;
  if (v1 <= v0) return;
  if (v1 >= n) return;
  float v2 = data[v0];
  float v3 = data[v1];
  float v4 = fminf(v2, v3);
  float v5 = fmaxf(v2, v3);
  bool v6 = (v0 & k) == 0;
  float v7 = v6 ? v4 : v5;
  float v8 = v6 ? v5 : v4;
  data[v0] = v7;
  data[v1] = v8;
}
