// Rows of a table picked by a list of numbers (an embedding look-up), scaled; one thread a number
// of the result, x along the row.
__global__ void look_up(const float* table, const int* words, float* out, float scale, int count,
                        int width) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int position = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && position < count) {
    out[position * width + column] = scale * table[words[position] * width + column];
  }
}
