// Coulomb forces in the plane: bodies of a block's tile are staged in shared memory (structure of
// three arrays), the inner loop is not unrolled and every thread has a single body.
#define TILE 128
__global__ void coulomb2d(const float* qx, const float* qy, const float* charge, float2* force,
                          int targets, int sources) {
  __shared__ float sx[TILE];
  __shared__ float sy[TILE];
  __shared__ float sq[TILE];
  int i = blockIdx.x * TILE + threadIdx.x;
  float x = i < targets ? qx[i] : 0.0f;
  float y = i < targets ? qy[i] : 0.0f;
  float fx = 0.0f;
  float fy = 0.0f;
  for (int base = 0; base < sources; base += TILE) {
    int j = base + threadIdx.x;
    sx[threadIdx.x] = j < sources ? qx[j] : 0.0f;
    sy[threadIdx.x] = j < sources ? qy[j] : 0.0f;
    sq[threadIdx.x] = j < sources ? charge[j] : 0.0f;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < TILE; k++) {
      float dx = x - sx[k];
      float dy = y - sy[k];
      float r2 = dx * dx + dy * dy + 0.01f;
      float g = sq[k] / r2;
      fx += g * dx;
      fy += g * dy;
    }
    __syncthreads();
  }
  if (i < targets) force[i] = make_float2(fx, fy);
}
