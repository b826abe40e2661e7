// Two bodies a thread, the others 128 at a time through shared memory, one reciprocal square root a pair.
__device__ __forceinline__ void pull(const float4& on, const float4& from, float3& sum) {
  const float dx = from.x - on.x;
  const float dy = from.y - on.y;
  const float dz = from.z - on.z;
  const float inverse = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))));
  const float strength = from.w * inverse * (inverse * inverse);
  sum.x = fmaf(dx, strength, sum.x);
  sum.y = fmaf(dy, strength, sum.y);
  sum.z = fmaf(dz, strength, sum.z);
}

__device__ __forceinline__ void move(const float4& p, const float3& a, float4* velocity, float4* moved, float step) {
  float4 v = *velocity;
  v.x = fmaf(a.x, step, v.x);
  v.y = fmaf(a.y, step, v.y);
  v.z = fmaf(a.z, step, v.z);
  *velocity = v;
  *moved = make_float4(fmaf(v.x, step, p.x), fmaf(v.y, step, p.y), fmaf(v.z, step, p.z), p.w);
}

__global__ void __launch_bounds__(128) nbody_step(const float4* __restrict__ position, float4* __restrict__ velocity,
                                                  float4* __restrict__ moved, float step, int n) {
  __shared__ float4 tile[128];
  const int first = blockIdx.x * 256 + threadIdx.x;
  const int second = first + 128;
  const float4 nowhere = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float4 p = first < n ? position[first] : nowhere;
  const float4 q = second < n ? position[second] : nowhere;
  float3 pull_p = make_float3(0.0f, 0.0f, 0.0f);
  float3 pull_q = make_float3(0.0f, 0.0f, 0.0f);
  for (int base = 0; base < n; base += 128) {
    tile[threadIdx.x] = base + threadIdx.x < n ? position[base + threadIdx.x] : nowhere;
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 128; ++j) {
      const float4 other = tile[j];
      pull(p, other, pull_p);
      pull(q, other, pull_q);
    }
    __syncthreads();
  }
  if (first < n) move(p, pull_p, velocity + first, moved + first, step);
  if (second < n) move(q, pull_q, velocity + second, moved + second, step);
}
