// The sum of every row of a matrix. A block is 4 threads wide and 64 rows tall: each thread adds a
// contiguous quarter of its row, and the first of them the four parts.
#define PARTS 4
#define HEIGHT 64

__global__ void row_sums_in_parts(const float* matrix, float* sums, int rows, int columns) {
  __shared__ float part[HEIGHT][PARTS];
  int r = blockIdx.x * HEIGHT + threadIdx.y;
  int share = (columns + PARTS - 1) / PARTS;
  int begin = threadIdx.x * share;
  float total = 0.0f;
  if (r < rows) {
    for (int c = begin; c < begin + share; ++c) {
      if (c < columns) {
        total += matrix[r * columns + c];
      }
    }
  }
  part[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.x == 0 && r < rows) {
    sums[r] =
        part[threadIdx.y][0] + part[threadIdx.y][1] + part[threadIdx.y][2] + part[threadIdx.y][3];
  }
}
