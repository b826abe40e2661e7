// Acceleration of every body by all others, straight from global memory. A body is a float4: place
// and mass.
__global__ void nbody(const float4* bodies, float4* accelerations, float softening, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 own = bodies[i];
    float ax = 0.0f;
    float ay = 0.0f;
    float az = 0.0f;
    for (int j = 0; j < n; ++j) {
      float4 other = bodies[j];
      float dx = other.x - own.x;
      float dy = other.y - own.y;
      float dz = other.z - own.z;
      float square = dx * dx + dy * dy + dz * dz + softening;
      float inverse = rsqrtf(square);
      float pull = other.w * inverse * inverse * inverse;
      ax += dx * pull;
      ay += dy * pull;
      az += dz * pull;
    }
    accelerations[i] = make_float4(ax, ay, az, 0.0f);
  }
}
