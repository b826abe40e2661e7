#include <cstdint>

// A storage class and a macro of older code.
__global__ void mix(uint32_t* x, int n) {
  register int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * UINT32_C(2654435761) + static_cast<uint32_t>(UINT64_C(0x100000001) >> 32);
}
