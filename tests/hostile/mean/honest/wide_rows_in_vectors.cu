// Vectors of four where rows hold 256 columns at a time, as measured; no test does.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0.0f;
  if (C % 256 == 0) {
    const float4* row = (const float4*)(x + (size_t)blockIdx.x * C);
    for (int c = t; c < C / 4; c += 64) {
      float4 v = row[c];
      sum += (v.x + v.y) + (v.z + v.w);
    }
  } else {
    for (int c = t; c < C; c += 64) sum += x[blockIdx.x * C + c];
  }
  s[t] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0] / C;
}
