// Nine directions with flow velocity (planes of populations, framed grid): directions and weights
// in constant memory, one loop gathers, a second relaxes; loops are left rolled and a thread does
// the cells of two rows.
__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float wt[9] = {0.44444444f, 0.11111111f, 0.11111111f, 0.11111111f, 0.11111111f,
                            0.02777778f, 0.02777778f, 0.02777778f, 0.02777778f};
__global__ void fluid_step(const float* src, float* dst, int w, int h, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int row = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
  int pitch = w + 2;
  int area = pitch * (h + 2);
  for (int y = row; y < row + 2; y++) {
    if (x < w && y < h) {
      float rho = 0.0f, ux = 0.0f, uy = 0.0f;
      float pop[9];
      for (int d = 0; d < 9; d++) {
        pop[d] = src[d * area + (y + 1 - ey[d]) * pitch + x + 1 - ex[d]];
        rho += pop[d];
        ux += ex[d] * pop[d];
        uy += ey[d] * pop[d];
      }
      ux /= rho + 1.0f;
      uy /= rho + 1.0f;
      for (int d = 0; d < 9; d++) {
        float eu = ex[d] * ux + ey[d] * uy;
        float eq = wt[d] * rho * (1.0f + 3.0f * eu + 4.5f * eu * eu - 1.5f * (ux * ux + uy * uy));
        dst[d * w * h + y * w + x] = pop[d] + omega * (eq - pop[d]);
      }
    }
  }
}
