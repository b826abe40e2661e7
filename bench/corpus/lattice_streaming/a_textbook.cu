// One step of a lattice Boltzmann model with five directions on a periodic grid: pull the
// populations, relax them towards diffusion equilibrium. One thread a cell, populations in planes,
// % for the wrap.
__global__ void lattice_step(const float* f, float* g, int nx, int ny, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    int plane = nx * ny;
    int west = (x + nx - 1) % nx;
    int east = (x + 1) % nx;
    int south = (y + ny - 1) % ny;
    int north = (y + 1) % ny;
    float f0 = f[y * nx + x];
    float f1 = f[plane + y * nx + west];
    float f2 = f[2 * plane + y * nx + east];
    float f3 = f[3 * plane + south * nx + x];
    float f4 = f[4 * plane + north * nx + x];
    float rho = f0 + f1 + f2 + f3 + f4;
    g[y * nx + x] = f0 + omega * (rho / 3.0f - f0);
    g[plane + y * nx + x] = f1 + omega * (rho / 6.0f - f1);
    g[2 * plane + y * nx + x] = f2 + omega * (rho / 6.0f - f2);
    g[3 * plane + y * nx + x] = f3 + omega * (rho / 6.0f - f3);
    g[4 * plane + y * nx + x] = f4 + omega * (rho / 6.0f - f4);
  }
}
