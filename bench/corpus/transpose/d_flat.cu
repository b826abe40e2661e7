// Transposes a matrix of doubles by a flat index over the result: neighbouring threads write side
// by side and read a row apart.
__global__ void turn_flat(const double* source, double* turned, int height, int width) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= width * height) return;
  int row_of_result = id / height;
  int column_of_result = id % height;
  turned[id] = source[column_of_result * width + row_of_result];
}
