#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>

__global__ void cube(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i] * in[i];
}

int main() {
  const int n = 1 << 20;
  thrust::device_vector<int> in(n), out(n);
  thrust::sequence(in.begin(), in.end());
  cube<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(in.data()),
                                 thrust::raw_pointer_cast(&out[0]), n);
  printf("%d\n", (int)out[3]);
}
