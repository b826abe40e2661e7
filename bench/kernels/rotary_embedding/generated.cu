// cat(x1 * cos - x2 * sin, x2 * cos + x1 * sin)
__global__ void rotary_embedding(const float* x, const float* cosines, const float* sines, float* out, int tokens, int heads,
                                 int half) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int n = 2 * half;
  if (idx >= tokens * heads * n) return;
  int x0 = idx % n;
  int t0 = idx / n;
  int x2 = t0 / heads;
  int r0 = x0 % half;
  float tmp0 = cosines[x2 * half + r0];
  float tmp1 = sines[x2 * half + r0];
  bool p0 = x0 < half;
  float tmp2 = x[idx];
  float tmp3 = p0 ? x[idx + half] : x[idx - half];
  float tmp4 = p0 ? -tmp3 : tmp3;
  float tmp5 = tmp2 * tmp0;
  float tmp6 = tmp4 * tmp1;
  float tmp7 = tmp5 + tmp6;
  out[idx] = tmp7;
}
