// out[c][r] = in[r][c].
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
    out[(i % columns) * rows + i / columns] = in[i];
  }
}
