// Inclusive prefix sums along the rows, one thread a row that carries the sum along: neighbouring
// threads read and write a row apart.
__global__ void prefix_by_row(const float* in, float* out, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float carried = 0.0f;
    for (int c = 0; c < columns; ++c) {
      carried += in[r * columns + c];
      out[r * columns + c] = carried;
    }
  }
}
