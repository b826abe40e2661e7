#include <stdio.h>
#define CHECK(call)                          \
  do {                                       \
    cudaError_t e = (call);                  \
    if (e != cudaSuccess) {                  \
      printf("%s\n", cudaGetErrorString(e)); \
    }                                        \
  } while (0)
#define AT(m, r, c, width) m[(r) * (width) + (c)]
#define SQUARE(x) ((x) * (x))
#define THREAD_ID() (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void distances(const float* points, float* out, int count, int dims) {
  int p = THREAD_ID();
  if (p >= count) return;
  float d = 0;
  for (int k = 0; k < dims; k++)
    d += SQUARE(AT(points, p, k, dims));
  out[p] = sqrtf(d);
}

int main(void) {
  float *points, *out;
  CHECK(cudaMalloc(&points, 4 * 1024 * 64));
  CHECK(cudaMalloc(&out, 4 * 1024));
  distances<<<8, 128>>>(points, out, 1024, 64);
  CHECK(cudaDeviceSynchronize());
}
