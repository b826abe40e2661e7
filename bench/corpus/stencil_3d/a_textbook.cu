// Seven-point heat step in a box whose walls keep their value: one thread a cell in cubic blocks.
// Blocks are only 8 cells wide along x, and nothing is shared.
__global__ void heat3d(const float* t0, float* t1, int nx, int ny, int nz, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    int i = (z * ny + y) * nx + x;
    float c = t0[i];
    bool wall = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
    if (!wall) {
      c += k * (t0[i - 1] + t0[i + 1] + t0[i - nx] + t0[i + nx] + t0[i - nx * ny] +
                t0[i + nx * ny] - 6.0f * c);
    }
    t1[i] = c;
  }
}
