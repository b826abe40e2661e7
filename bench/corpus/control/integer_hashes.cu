// Control: a grid of independent integer hashes of the element's number, nothing is read. Integer
// instructions are the limit.
#define ROUND       \
  h ^= h >> 15;     \
  h *= 0x2c1b3c6du; \
  h ^= h >> 12;     \
  h *= 0x297a2d39u; \
  h ^= h >> 16;
__global__ void hashes(unsigned* __restrict__ out, unsigned n, unsigned salt) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned h = i + salt;
    ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND
        out[i] = h;
  }
}
