// A sparse matrix times a vector, one thread a row. Rows have between 8 and 24 entries (row r has 8
// + r mod 17) and lie packed behind each other; a warp's loads are many bytes apart.
__device__ int start_of_row(int r) {
  int full = r / 17;
  int rest = r % 17;
  return full * 272 + rest * 8 + rest * (rest - 1) / 2;
}

__global__ void sparse_times_vector(const float* entries, const int* columns, const float* vector,
                                    float* product, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    int begin = start_of_row(r);
    int end = start_of_row(r + 1);
    float sum = 0.0f;
    for (int k = begin; k < end; ++k) {
      sum += entries[k] * vector[columns[k]];
    }
    product[r] = sum;
  }
}
