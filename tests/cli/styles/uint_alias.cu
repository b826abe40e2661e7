__global__ void mix(uint* state, uint n) {
  uint i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint s = state[i];
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    state[i] = s;
  }
}
