// 3 x 3 median of an image with a frame of one pixel around it. threadIdx.x counts rows; the median
// is found by counting, for each of the nine, how many of the others go before it.
__global__ void median_by_rank(const int* framed, int* result, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < cols) {
    int pitch = cols + 2;
    for (int a = 0; a < 9; a++) {
      int candidate = framed[(i + a / 3) * pitch + j + a % 3];
      int before = 0;
      for (int b = 0; b < 9; b++) {
        int other = framed[(i + b / 3) * pitch + j + b % 3];
        if (other < candidate || (other == candidate && b < a)) before++;
      }
      if (before == 4) result[i * cols + j] = candidate;
    }
  }
}
