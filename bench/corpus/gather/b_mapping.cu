// Rows of a table picked by a list of numbers, scaled. One thread copies a whole row, so the
// threads of a warp read 32 unrelated rows and write places a row apart.
__global__ void look_up_rows(const float* table, const int* words, float* out, float scale,
                             int count, int width) {
  int position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position < count) {
    int word = words[position];
    for (int c = 0; c < width; c++) {
      out[position * width + c] = scale * table[word * width + c];
    }
  }
}
