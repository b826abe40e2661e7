// Potential of point charges on a plane of grid points: one thread a point, a loop over all charges
// with a division and a root for each.
__global__ void potential(const float4* charges, float* phi, int count, int nx, int ny, float h,
                          float z) {
  int ix = blockIdx.x * blockDim.x + threadIdx.x;
  int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) {
    float v = 0.0f;
    for (int c = 0; c < count; c++) {
      float dx = ix * h - charges[c].x;
      float dy = iy * h - charges[c].y;
      float dz = z - charges[c].z;
      v += charges[c].w / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    phi[iy * nx + ix] = v;
  }
}
