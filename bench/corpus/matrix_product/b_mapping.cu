// Product of two matrices in blocks of 16 x 16, x down the rows of the result: of a warp's
// 32 threads 16 read different rows of the left matrix and write to different rows.
__global__ void product_swapped(const float* a, const float* b, float* c, int rows, int columns,
                                int inner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  float dot = 0.0f;
  for (int t = 0; t < inner; t++) {
    dot += a[i * inner + t] * b[t * columns + j];
  }
  c[i * columns + j] = dot;
}
