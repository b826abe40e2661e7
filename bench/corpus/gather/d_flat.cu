// Rows of a table picked by a list of numbers, scaled, by a flat index in which the position runs
// fastest: neighbouring threads write places a row apart and read from unrelated rows.
__global__ void look_up_flat(const float* table, const int* words, float* out, float scale,
                             int count, int width) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count * width) {
    return;
  }
  int position = id % count;
  int column = id / count;
  out[position * width + column] = scale * table[words[position] * width + column];
}
