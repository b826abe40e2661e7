// Lennard-Jones-like accelerations: float4 bodies, pair law in a device function, the exponent in a
// template. One thread a body of one of many clusters; nothing is staged, the loop goes backwards.
#define CUBE(v) ((v) * (v) * (v))

template <int STEEP>
__device__ float strength(float r2) {
  float inv2 = 1.0f / r2;
  float s6 = CUBE(inv2);
  float p = s6;
#pragma unroll
  for (int e = 1; e < STEEP; ++e)
    p *= s6;
  return (2.0f * p - s6) * inv2;
}

template <int STEEP>
__global__ void cluster_forces(const float4* body, float4* acc, int clusters, int members) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= clusters * members) return;
  const float4 me = body[id];
  const int base = id / members * members;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = members - 1; j >= 0; --j) {
    const float4 other = body[base + j];
    const float dx = me.x - other.x;
    const float dy = me.y - other.y;
    const float dz = me.z - other.z;
    const float g = other.w * strength<STEEP>(dx * dx + dy * dy + dz * dz + 1.0f);
    sum.x += g * dx;
    sum.y += g * dy;
    sum.z += g * dz;
    sum.w += g;
  }
  acc[id] = sum;
}
