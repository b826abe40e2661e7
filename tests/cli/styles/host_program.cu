// A whole program: allocation, launch and check around the kernel.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                   \
  do {                                                \
    cudaError_t status = (call);                      \
    if (status != cudaSuccess) {                      \
      fprintf(stderr, "%s\n", cudaGetErrorString(status)); \
      exit(EXIT_FAILURE);                             \
    }                                                 \
  } while (0)

static const int kThreads = 128;

__device__ float weight(float x) { return x * 0.25f; }

__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 1) out[i] = weight(in[i - 1]) + 2.0f * weight(in[i]) + weight(in[i + 1]);
}

struct Timer {
  cudaEvent_t begin, end;
  Timer() { cudaEventCreate(&begin); cudaEventCreate(&end); }
};

int main(int argc, char** argv) {
  const int n = 1000000;
  std::vector<float> host(n, 1.0f);
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  Timer timer;
  smooth<<<(n + kThreads - 1) / kThreads, kThreads>>>(in, out, n);
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
