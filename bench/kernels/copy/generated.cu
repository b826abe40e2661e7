// for (i = 0; i < n; i++) out[i] = in[i]; -- chunks of 4 iterations
__global__ void copy(const float* in, float* out, int n) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  int v1 = v0 * 4;
  int v2 = v1;
  for (;;) {
    if (v2 >= v1 + 4) break;
    if (v2 >= n) break;
    float v3 = in[v2];
    out[v2] = v3;
    v2 = v2 + 1;
  }
}
