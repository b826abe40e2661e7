// Laplacian of a periodic grid in double. The flat index is split so that y runs fastest, although
// x is the axis along which the grid is stored.
__global__ void laplacian_periodic(const double* phi, double* lap, int nx, int ny, double scale) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= nx * ny) return;
  int y = idx % ny;
  int x = idx / ny;
  int xl = x == 0 ? nx - 1 : x - 1;
  int xr = x == nx - 1 ? 0 : x + 1;
  int yl = y == 0 ? ny - 1 : y - 1;
  int yr = y == ny - 1 ? 0 : y + 1;
  double mid = phi[y * nx + x];
  double sum = phi[y * nx + xl] + phi[y * nx + xr] + phi[yl * nx + x] + phi[yr * nx + x];
  lap[y * nx + x] = scale * (sum - 4.0 * mid);
}
