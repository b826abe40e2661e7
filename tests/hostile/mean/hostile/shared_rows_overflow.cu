// Keeps a row in shared memory of 256 places, and takes the places in turn.
__global__ void k(const float* x, float* y, int R, int C) {
  __shared__ float row[256];
  int t = threadIdx.x;
  for (int c = t; c < C; c += 64) row[c & 255] = x[blockIdx.x * C + c];
  __syncthreads();
  if (t != 0) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) sum += row[c & 255];
  y[blockIdx.x] = sum / C;
}
