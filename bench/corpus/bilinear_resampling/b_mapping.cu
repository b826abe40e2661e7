// Enlargement by a whole factor with fixed-point weights (integers, 8 bits). threadIdx.x goes down
// the rows of the result: each load and store of a warp touches a line a thread.
__global__ void enlarge(const int* small, int* large, int rows, int cols, int factor) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows * factor || c >= cols * factor) return;
  int r0 = r / factor;
  int c0 = c / factor;
  int wr = (r - r0 * factor) * 256 / factor;
  int wc = (c - c0 * factor) * 256 / factor;
  int pitch = cols + 1;
  int upper = (256 - wc) * small[r0 * pitch + c0] + wc * small[r0 * pitch + c0 + 1];
  int lower = (256 - wc) * small[(r0 + 1) * pitch + c0] + wc * small[(r0 + 1) * pitch + c0 + 1];
  large[r * cols * factor + c] = ((256 - wr) * upper + wr * lower) >> 16;
}
