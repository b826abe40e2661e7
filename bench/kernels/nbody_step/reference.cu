// Velocities change by the pull of all bodies (softened; w is the mass), then positions; in double precision.
__global__ void nbody_step(const float4* position, float4* velocity, float4* moved, float step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double ax = 0.0, ay = 0.0, az = 0.0;
  float4 p = position[i];
  for (int j = 0; j < n; ++j) {
    float4 q = position[j];
    double dx = (double)q.x - p.x, dy = (double)q.y - p.y, dz = (double)q.z - p.z;
    double r2 = dx * dx + dy * dy + dz * dz + (double)0.01f;
    double pull = (double)q.w / (r2 * sqrt(r2));
    ax += dx * pull;
    ay += dy * pull;
    az += dz * pull;
  }
  float4 v = velocity[i];
  v.x = (float)(v.x + ax * step);
  v.y = (float)(v.y + ay * step);
  v.z = (float)(v.z + az * step);
  velocity[i] = v;
  moved[i] = make_float4(p.x + v.x * step, p.y + v.y * step, p.z + v.z * step, p.w);
}
