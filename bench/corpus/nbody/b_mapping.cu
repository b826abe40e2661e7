// Forces of m fixed sources on n particles. A particle is a record of six floats (place, velocity),
// a source one of five: neighbouring threads load 24 bytes apart, component by component.
__global__ void attract(const float* particles, const float* sources, float* force, int n, int m,
                        float soft) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float f0 = 0.0f;
  float f1 = 0.0f;
  float f2 = 0.0f;
  for (int k = 0; k < m; ++k) {
    float d0 = sources[5 * k + 0] - particles[6 * t + 0];
    float d1 = sources[5 * k + 1] - particles[6 * t + 1];
    float d2 = sources[5 * k + 2] - particles[6 * t + 2];
    float inv = rsqrtf(d0 * d0 + d1 * d1 + d2 * d2 + soft);
    float g = sources[5 * k + 3] * sources[5 * k + 4] * inv * inv * inv;
    f0 += g * d0;
    f1 += g * d1;
    f2 += g * d2;
  }
  force[3 * t + 0] = f0;
  force[3 * t + 1] = f1;
  force[3 * t + 2] = f2;
}
