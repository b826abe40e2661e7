// Halving a picture of four interleaved channels (float4), shifted by a part of a pixel: template
// over the number of pixels a thread does one below the other, interpolation by a macro.
#define MIX(p, q, t) ((p) + (t) * ((q) - (p)))

__device__ float4 mix4(float4 p, float4 q, float t) {
  return make_float4(MIX(p.x, q.x, t), MIX(p.y, q.y, t), MIX(p.z, q.z, t), MIX(p.w, q.w, t));
}

template <int ROWS>
__global__ void halve(const float4* full, float4* half_size, int cols, int rows, float tx,
                      float ty) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r0 = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
  const int wide = 2 * cols;
  for (int r = r0; r < r0 + ROWS; ++r) {
    if (c < cols && r < rows) {
      const int base = 2 * r * wide + 2 * c;
      const float4 a = mix4(full[base], full[base + 1], tx);
      const float4 b = mix4(full[base + wide], full[base + wide + 1], tx);
      half_size[r * cols + c] = mix4(a, b, ty);
    }
  }
}
