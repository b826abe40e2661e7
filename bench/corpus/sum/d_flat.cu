// Row sums of a matrix whose sums every thread finds for one stretch of 16 elements first; the 32
// stretches of 512 columns are then added by the first thread of the row, one after the other.
#define STRETCH 16
#define WIDTH 512

__global__ void row_sums_stretches(const double* cells, double* sums, int rows) {
  __shared__ double partial[128];
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int per_row = WIDTH / STRETCH;
  double s = 0.0;
  if (id < rows * per_row) {
    for (int k = 0; k < STRETCH; k++) {
      s += cells[id * STRETCH + k];
    }
  }
  partial[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x % per_row == 0 && id < rows * per_row) {
    double total = 0.0;
    for (int k = 0; k < per_row; k++) {
      total += partial[threadIdx.x + k];
    }
    sums[id / per_row] = total;
  }
}
