// Reads every element once.
__global__ void k(const float* x, int* y, int R, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R) return;
  int best = 0;
  float most = x[i * C];
  for (int j = 1; j < C; ++j) {
    float v = x[i * C + j];
    if (v > most) { most = v; best = j; }
  }
  y[i] = best;
}
