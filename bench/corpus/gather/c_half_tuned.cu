// Rows of a table picked by a list of numbers, scaled. A block of 64 threads takes one row; every
// thread loads the row's number again in each round of its loop.
__global__ void look_up_blocks(const float* __restrict__ table, const int* __restrict__ words,
                               float* __restrict__ out, float scale, int width) {
  int slot = blockIdx.x;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    out[slot * width + c] = scale * table[words[slot] * width + c];
  }
}
