// Gravitational forces between all bodies of many small systems: one thread a body, coordinates in
// separate arrays, every thread reads all bodies of its system from global memory.
__global__ void forces(const float* px, const float* py, const float* pz, const float* mass,
                       float* fx, float* fy, float* fz, int systems, int bodies, float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int s = blockIdx.y;
  if (i < bodies && s < systems) {
    float x = px[s * bodies + i];
    float y = py[s * bodies + i];
    float z = pz[s * bodies + i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < bodies; j++) {
      float dx = px[s * bodies + j] - x;
      float dy = py[s * bodies + j] - y;
      float dz = pz[s * bodies + j] - z;
      float r2 = dx * dx + dy * dy + dz * dz + eps;
      float w = mass[s * bodies + j] / (r2 * sqrtf(r2));
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    fx[s * bodies + i] = ax;
    fy[s * bodies + i] = ay;
    fz[s * bodies + i] = az;
  }
}
