#define RADIUS 2
__constant__ float taps[2 * RADIUS + 1];

__global__ void fir(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= RADIUS && i < n - RADIUS) {
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k) sum += taps[k + RADIUS] * in[i + k];
    out[i] = sum;
  }
}
