// Shifts, exclusive ors and additions on integers: a generator of random numbers.
__global__ void integer(const unsigned int* in, unsigned int* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned int value = in[i] + i;
    for (int k = 0; k < rounds; ++k) {
      value ^= value << 13;
      value ^= value >> 17;
      value ^= value << 5;
      value += k;
    }
    out[i] = value;
  }
}
