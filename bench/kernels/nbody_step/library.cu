// Particles with operators; the interaction is a functor.
struct Vector {
  float x, y, z;
};
__device__ __forceinline__ Vector operator-(const float4& a, const float4& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vector operator*(const Vector& a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ Vector& operator+=(Vector& a, const Vector& b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
  return a;
}
__device__ __forceinline__ float dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct Gravity {
  float softening;
  __device__ __forceinline__ Vector operator()(const float4& on, const float4& from) const {
    const Vector apart = from - on;
    const float inverse = 1.0f / sqrtf(dot(apart, apart) + softening);
    return apart * (from.w * inverse * inverse * inverse);
  }
};

template <typename Interaction>
__device__ __forceinline__ Vector accumulate(const float4* __restrict__ position, const float4& mine, int n,
                                             Interaction interaction) {
  Vector sum{0.0f, 0.0f, 0.0f};
  for (int j = 0; j < n; ++j) sum += interaction(mine, position[j]);
  return sum;
}

__global__ void nbody_step(const float4* __restrict__ position, float4* __restrict__ velocity,
                           float4* __restrict__ moved, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 mine = position[i];
  const Vector pull = accumulate(position, mine, n, Gravity{0.01f});
  float4 v = velocity[i];
  v.x += pull.x * step;
  v.y += pull.y * step;
  v.z += pull.z * step;
  velocity[i] = v;
  moved[i] = make_float4(mine.x + v.x * step, mine.y + v.y * step, mine.z + v.z * step, mine.w);
}
