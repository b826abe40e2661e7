// Lanes with the same value count together.
__global__ void k(const int* data, unsigned int* bins, int n, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool in = i < n;
  unsigned active = __ballot_sync(0xffffffffu, in);
  if (!in) return;
  unsigned same = __match_any_sync(active, data[i]);
  if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[data[i]], (unsigned)__popc(same));
}
