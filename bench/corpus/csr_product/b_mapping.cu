// A sparse matrix in rows of equal room times a vector, one thread a row. How many places of its
// room a row uses says an array; the room of a row is contiguous, so a warp reads 32 rows at once.
__global__ void padded_times_vector(const float* value, const int* column, const int* used,
                                    const float* x, float* y, int rows, int room) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float dot = 0.0f;
  int k = 0;
  while (k < used[row]) {
    dot += value[row * room + k] * x[column[row * room + k]];
    k = k + 1;
  }
  y[row] = dot;
}
