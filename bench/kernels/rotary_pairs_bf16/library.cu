// One block a token: its threads go over all pairs of all heads. Whether pairs are neighbours or halves apart is a
// template parameter.
#include <cuda_bf16.h>
#include <stdint.h>

template <typename scalar_t, bool kInterleaved>
__device__ __forceinline__ void rotate_pair(scalar_t* __restrict__ row, const float* __restrict__ cosine,
                                            const float* __restrict__ sine, int pair, int pairs) {
  const int first = kInterleaved ? 2 * pair : pair;
  const int second = kInterleaved ? 2 * pair + 1 : pair + pairs;
  const float c = __ldg(cosine + pair);
  const float s = __ldg(sine + pair);
  const float a = static_cast<float>(row[first]);
  const float b = static_cast<float>(row[second]);
  row[first] = static_cast<scalar_t>(a * c - b * s);
  row[second] = static_cast<scalar_t>(b * c + a * s);
}

template <typename scalar_t, bool kInterleaved>
__device__ __forceinline__ void rotary_token(scalar_t* __restrict__ x, const int* __restrict__ positions,
                                             const float* __restrict__ cosines, const float* __restrict__ sines,
                                             int heads, int pairs) {
  const int64_t token = blockIdx.x;
  const int64_t position = positions[token];
  const float* cosine = cosines + position * pairs;
  const float* sine = sines + position * pairs;
  const int64_t head_size = 2 * pairs;
  for (int i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
    const int head = i / pairs;
    rotate_pair<scalar_t, kInterleaved>(x + (token * heads + head) * head_size, cosine, sine, i % pairs, pairs);
  }
}

__global__ void rotary_pairs_bf16(__nv_bfloat16* __restrict__ x, const int* __restrict__ positions,
                                  const float* __restrict__ cosines, const float* __restrict__ sines, int tokens,
                                  int heads, int pairs) {
  rotary_token<__nv_bfloat16, true>(x, positions, cosines, sines, heads, pairs);
}
