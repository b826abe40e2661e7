// Filter with five fixed taps on stereo samples (float2), four consecutive frames a thread: the
// accesses of neighbouring threads are 32 bytes apart.
#define FRAMES 4
#define CLAMP_TO(i, hi) ((i) < 0 ? 0 : ((i) > (hi) ? (hi) : (i)))

__device__ float2 weighted(float2 s, float w) {
  return make_float2(s.x * w, s.y * w);
}

__global__ void stereo_filter(const float2* frames, float2* result, int count, float w0, float w1,
                              float w2) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * FRAMES;
  for (int f = first; f < first + FRAMES; ++f) {
    if (f < count) {
      float2 m = weighted(frames[f], w0);
      float2 a = weighted(frames[CLAMP_TO(f - 1, count - 1)], w1);
      float2 b = weighted(frames[CLAMP_TO(f + 1, count - 1)], w1);
      float2 c = weighted(frames[CLAMP_TO(f - 2, count - 1)], w2);
      float2 d = weighted(frames[CLAMP_TO(f + 2, count - 1)], w2);
      result[f] = make_float2(m.x + a.x + b.x + c.x + d.x, m.y + a.y + b.y + c.y + d.y);
    }
  }
}
