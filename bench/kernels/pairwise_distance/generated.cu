// sqrt(reduce(add, pow(sub(expand(a), expand(b)), 2)))
__global__ void pairwise_distance(const float* a, const float* b, float* out, int m, int n, int dim) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= m * n) return;
  int x0 = idx / n;
  int x1 = idx % n;
  float acc = 0.0f;
  int r0 = 0;
  for (;;) {
    if (r0 >= dim) break;
    float tmp0 = a[x0 * dim + r0];
    float tmp1 = b[x1 * dim + r0];
    float tmp2 = tmp0 - tmp1;
    float tmp3 = tmp2 * tmp2;
    acc = acc + tmp3;
    r0 = r0 + 1;
  }
  float tmp4 = sqrtf(acc);
  out[idx] = tmp4;
}
