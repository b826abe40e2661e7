// 64 queries a block, 32 keys a round: scores 4 x 2 a thread, online softmax over 16 lanes by shuffles, then 4 x 4
// outputs a thread. Queries and keys lie with the dimension first, weights with the key last.
__global__ void __launch_bounds__(256) attention_row(const float* __restrict__ query, const float* __restrict__ keys,
                                                     const float* __restrict__ values, float* __restrict__ out,
                                                     float scale, int queries, int length) {
  constexpr int kDim = 64;
  constexpr int kKeys = 32;
  __shared__ __align__(16) float q_tile[kDim][64 + 4];
  __shared__ __align__(16) float k_tile[kDim][kKeys + 4];
  __shared__ __align__(16) float v_tile[kKeys][kDim];
  __shared__ __align__(16) float weights[64][kKeys + 4];
  const int first = blockIdx.x * 64;
  const int ty = threadIdx.x / 16;
  const int tx = threadIdx.x % 16;
  for (int i = threadIdx.x; i < 64 * 16; i += 256) {
    const int row = i / 16;
    const int d = i % 16 * 4;
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first + row < queries) v = *reinterpret_cast<const float4*>(query + static_cast<size_t>(first + row) * kDim + d);
    q_tile[d][row] = v.x * scale;
    q_tile[d + 1][row] = v.y * scale;
    q_tile[d + 2][row] = v.z * scale;
    q_tile[d + 3][row] = v.w * scale;
  }
  float peak[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  float sum[4] = {};
  float mix[4][4] = {};
  for (int base = 0; base < length; base += kKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * 16; i += 256) {
      const int row = i / 16;
      const int d = i % 16 * 4;
      float4 k = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      float4 v = k;
      if (base + row < length) {
        k = *reinterpret_cast<const float4*>(keys + static_cast<size_t>(base + row) * kDim + d);
        v = *reinterpret_cast<const float4*>(values + static_cast<size_t>(base + row) * kDim + d);
      }
      k_tile[d][row] = k.x;
      k_tile[d + 1][row] = k.y;
      k_tile[d + 2][row] = k.z;
      k_tile[d + 3][row] = k.w;
      *reinterpret_cast<float4*>(&v_tile[row][d]) = v;
    }
    __syncthreads();
    float scores[4][2] = {};
#pragma unroll 16
    for (int d = 0; d < kDim; ++d) {
      const float4 q = *reinterpret_cast<const float4*>(&q_tile[d][4 * ty]);
      const float2 k = *reinterpret_cast<const float2*>(&k_tile[d][2 * tx]);
      const float a[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[i][0] = fmaf(a[i], k.x, scores[i][0]);
        scores[i][1] = fmaf(a[i], k.y, scores[i][1]);
      }
    }
    const bool second = base + 2 * tx + 1 < length;
    const bool one = base + 2 * tx < length;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!one) scores[i][0] = -INFINITY;
      if (!second) scores[i][1] = -INFINITY;
      float higher = fmaxf(scores[i][0], scores[i][1]);
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2) {
        higher = fmaxf(higher, __shfl_xor_sync(0xffffffffu, higher, offset));
      }
      higher = fmaxf(higher, peak[i]);
      const float shrink = __expf(peak[i] - higher);
      const float first_weight = __expf(scores[i][0] - higher);
      const float second_weight = __expf(scores[i][1] - higher);
      sum[i] = sum[i] * shrink + first_weight + second_weight;
      peak[i] = higher;
#pragma unroll
      for (int j = 0; j < 4; ++j) mix[i][j] *= shrink;
      *reinterpret_cast<float2*>(&weights[4 * ty + i][2 * tx]) = make_float2(first_weight, second_weight);
    }
    __syncwarp();
#pragma unroll 4
    for (int t = 0; t < kKeys; t += 4) {
      float4 w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = *reinterpret_cast<const float4*>(&weights[4 * ty + i][t]);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 v = *reinterpret_cast<const float4*>(&v_tile[t + s][4 * tx]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float weight = s == 0 ? w[i].x : s == 1 ? w[i].y : s == 2 ? w[i].z : w[i].w;
          mix[i][0] = fmaf(weight, v.x, mix[i][0]);
          mix[i][1] = fmaf(weight, v.y, mix[i][1]);
          mix[i][2] = fmaf(weight, v.z, mix[i][2]);
          mix[i][3] = fmaf(weight, v.w, mix[i][3]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int offset = 8; offset > 0; offset /= 2) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], offset);
    const int row = first + 4 * ty + i;
    if (row < queries) {
      const float inverse = 1.0f / sum[i];
      *reinterpret_cast<float4*>(out + static_cast<size_t>(row) * kDim + 4 * tx) =
          make_float4(mix[i][0] * inverse, mix[i][1] * inverse, mix[i][2] * inverse, mix[i][3] * inverse);
    }
  }
}
