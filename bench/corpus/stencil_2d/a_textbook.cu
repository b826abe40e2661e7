// One sweep of a five-point average over a grid whose rim stays as it is: one thread a point.
// Every inner value is loaded five times.
__global__ void sweep(const float* u, float* v, int nx, int ny, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    float c = u[y * nx + x];
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
      float around =
          u[y * nx + x - 1] + u[y * nx + x + 1] + u[(y - 1) * nx + x] + u[(y + 1) * nx + x];
      c = c + omega * (0.25f * around - c);
    }
    v[y * nx + x] = c;
  }
}
