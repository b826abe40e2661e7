// Screened potential on a grid with given coordinate lines. threadIdx.x takes the row of the grid,
// so the stores of a warp are a row apart; charges are three separate arrays.
__global__ void screened(const float* qx, const float* qy, const float* q, const float* lines_x,
                         const float* lines_y, float* field, int charges, int rows, int cols,
                         float kappa) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float total = 0.0f;
  for (int n = 0; n < charges; ++n) {
    float dx = lines_x[c] - qx[n];
    float dy = lines_y[r] - qy[n];
    float dist = sqrtf(dx * dx + dy * dy + 0.02f);
    total += q[n] * expf(-kappa * dist) / dist;
  }
  field[r * cols + c] += total;
}
