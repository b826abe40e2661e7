// One time step of the n-body problem; the mass is in w
__global__ void nbody_step(const float4* position, float4* velocity, float4* moved, float step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float ax = 0.0f;
    float ay = 0.0f;
    float az = 0.0f;
    for (int j = 0; j < n; j++) {
      float dx = position[j].x - position[i].x;
      float dy = position[j].y - position[i].y;
      float dz = position[j].z - position[i].z;
      float distance = sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float pull = position[j].w / (distance * distance * distance);
      ax += dx * pull;
      ay += dy * pull;
      az += dz * pull;
    }
    velocity[i].x += ax * step;
    velocity[i].y += ay * step;
    velocity[i].z += az * step;
    moved[i].x = position[i].x + velocity[i].x * step;
    moved[i].y = position[i].y + velocity[i].y * step;
    moved[i].z = position[i].z + velocity[i].z * step;
    moved[i].w = position[i].w;
  }
}
