// Weighted seven-point stencil, one thread a column that marches along z: the plane's own x and y
// neighbours and the values above and below are loaded anew in every step.
__global__ void march(const float* __restrict__ a, float* __restrict__ b, int nx, int ny, int nz,
                      float w0, float w1) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  int plane = nx * ny;
#pragma unroll 2
  for (int z = 1; z < nz - 1; z++) {
    int i = z * plane + y * nx + x;
    float ring = a[i - 1] + a[i + 1] + a[i - nx] + a[i + nx];
    b[i] = w0 * a[i] + w1 * (ring + a[i - plane] + a[i + plane]);
  }
}
