// The squared length of each row of a matrix, and the matrix turned; checks itself against the host.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// One thread a row: neighbours read addresses that lie a row apart.
__global__ void row_squares(const float* matrix, float* squares, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;  // of the row
  for (int c = 0; c < columns; ++c) sum += matrix[row * columns + c] * matrix[row * columns + c];
  squares[row] = sum;
}

// Neighbours read one row and write to as many.
__global__ void transpose(const float* matrix, float* turned, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < columns && row < rows) turned[c * rows + row] = matrix[row * columns + c];
}

// The launch of the first kernel stands in a helper, as it often does.
static void launch_row_squares(const float* matrix, float* squares, int rows, int columns) {
  const int threads = 128;
  row_squares<<<(rows + threads - 1) / threads, threads>>>(matrix, squares, rows, columns);
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 4096;
  const int columns = argc > 2 ? atoi(argv[2]) : 1024;
  std::vector<float> host(static_cast<size_t>(rows) * columns);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i * 7919 % 1000) / 500.0f - 0.9f;

  float *matrix, *turned, *squares;
  cudaMalloc(&matrix, host.size() * sizeof(float));
  cudaMalloc(&turned, host.size() * sizeof(float));
  cudaMalloc(&squares, rows * sizeof(float));
  cudaMemcpy(matrix, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  launch_row_squares(matrix, squares, rows, columns);
  dim3 block(16, 16);
  dim3 grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  transpose<<<grid, block>>>(matrix, turned, rows, columns);

  std::vector<float> sums(rows), columns_first(host.size());
  cudaMemcpy(sums.data(), squares, rows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(columns_first.data(), turned, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (int row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (int c = 0; c < columns; ++c) {
      const double entry = host[static_cast<size_t>(row) * columns + c];
      sum += entry * entry;
      if (columns_first[static_cast<size_t>(c) * rows + row] != static_cast<float>(entry)) {
        printf("FAIL: row %d, column %d is not where it belongs\n", row, c);
        return 1;
      }
    }
    if (std::fabs(sums[row] - sum) > 1e-3 * sum) {
      printf("FAIL: row %d is %f, not %f\n", row, sums[row], sum);
      return 1;
    }
  }
  printf("PASS %d x %d\n", rows, columns);
}
