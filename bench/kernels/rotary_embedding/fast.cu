// A block a token: a thread turns four pairs (16 bytes of each half) and keeps their angles from head to head.
__global__ void __launch_bounds__(256) rotary_embedding(const float* __restrict__ x, const float* __restrict__ cosines,
                                                        const float* __restrict__ sines, float* __restrict__ out,
                                                        int tokens, int heads, int half) {
  const size_t token = blockIdx.x;
  const float* from = x + token * heads * 2 * half;
  float* to = out + token * heads * 2 * half;
  const float* cosine = cosines + token * half;
  const float* sine = sines + token * half;
  const int quads = half / 4;
  if (half % 4 == 0 && 256 % quads == 0) {
    const int d = 4 * (threadIdx.x % quads);
    const float4 c = *reinterpret_cast<const float4*>(cosine + d);
    const float4 s = *reinterpret_cast<const float4*>(sine + d);
#pragma unroll 2
    for (int head = threadIdx.x / quads; head < heads; head += 256 / quads) {
      const size_t at = static_cast<size_t>(head) * 2 * half + d;
      const float4 a = *reinterpret_cast<const float4*>(from + at);
      const float4 b = *reinterpret_cast<const float4*>(from + at + half);
      *reinterpret_cast<float4*>(to + at) = make_float4(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y,
                                                        a.z * c.z - b.z * s.z, a.w * c.w - b.w * s.w);
      *reinterpret_cast<float4*>(to + at + half) = make_float4(b.x * c.x + a.x * s.x, b.y * c.y + a.y * s.y,
                                                               b.z * c.z + a.z * s.z, b.w * c.w + a.w * s.w);
    }
    return;
  }
#pragma unroll 4
  for (int i = threadIdx.x; i < heads * half; i += 256) {
    const int d = i % half;
    const size_t at = static_cast<size_t>(i / half) * 2 * half + d;
    const float a = from[at];
    const float b = from[at + half];
    to[at] = a * cosine[d] - b * sine[d];
    to[at + half] = b * cosine[d] + a * sine[d];
  }
}
