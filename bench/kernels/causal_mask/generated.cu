// where(iota(1) <= iota(0), mul, constant)
__global__ void causal_mask(float* scores, float scale, int heads, int length) {
  int idx = blockIdx.x * 256 + threadIdx.x;
  int numel = heads * length * length;
  if (idx < numel) {
    int t0 = idx / length;
    int x2 = idx - t0 * length;
    int x1 = t0 % length;
    float tmp0 = scores[idx];
    float tmp1 = tmp0 * scale;
    bool tmp2 = x2 <= x1;
    float tmp3 = tmp2 ? tmp1 : -1.0e30f;
    scores[idx] = tmp3;
  }
}
