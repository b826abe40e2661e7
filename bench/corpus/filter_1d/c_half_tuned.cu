// Symmetric filter of fixed radius 8: the block stages its samples with both halos in shared
// memory, the taps stay in global memory and the loop is not unrolled.
#define RADIUS 8
#define THREADS 128
__global__ void smooth_line(const float* in, const float* taps, float* out, int n) {
  __shared__ float line[THREADS + 2 * RADIUS];
  const int start = blockIdx.x * THREADS - RADIUS;
  for (int s = threadIdx.x; s < THREADS + 2 * RADIUS; s += THREADS) {
    const int g = start + s;
    line[s] = (g >= 0 && g < n) ? in[g] : 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) {
    float acc = taps[0] * line[threadIdx.x + RADIUS];
#pragma unroll 1
    for (int d = 1; d <= RADIUS; d++) {
      acc += taps[d] * (line[threadIdx.x + RADIUS - d] + line[threadIdx.x + RADIUS + d]);
    }
    out[i] = acc;
  }
}
