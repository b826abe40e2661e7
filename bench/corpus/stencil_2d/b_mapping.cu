// Nine-point smoothing in which one thread does a whole row from left to right: the threads of a
// warp read and write a row apart in each step.
__global__ void smooth_rows(const float* field, float* smooth, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int pitch = cols + 2;
  for (int col = 0; col < cols; ++col) {
    const float* p = field + row * pitch + col;
    float corners = p[0] + p[2] + p[2 * pitch] + p[2 * pitch + 2];
    float edges = p[1] + p[pitch] + p[pitch + 2] + p[2 * pitch + 1];
    smooth[row * cols + col] = 0.25f * p[pitch + 1] + 0.125f * edges + 0.0625f * corners;
  }
}
