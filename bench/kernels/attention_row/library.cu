// One block a query, one thread a dimension; scores are summed in shared memory, the softmax is online.
template <int kDim>
struct OnlineSoftmax {
  float peak = -INFINITY;
  float sum = 0.0f;
  float mix = 0.0f;
  __device__ __forceinline__ void add(float score, float value) {
    const float higher = fmaxf(peak, score);
    const float shrink = expf(peak - higher);
    const float weight = expf(score - higher);
    mix = mix * shrink + weight * value;
    sum = sum * shrink + weight;
    peak = higher;
  }
};

template <int kDim>
__global__ void attention_row(const float* __restrict__ query, const float* __restrict__ keys,
                              const float* __restrict__ values, float* __restrict__ out, float scale, int queries,
                              int length) {
  __shared__ float products[kDim];
  const int d = threadIdx.x;
  const float q = query[static_cast<size_t>(blockIdx.x) * kDim + d] * scale;
  OnlineSoftmax<kDim> state;
  for (int t = 0; t < length; ++t) {
    products[d] = q * keys[static_cast<size_t>(t) * kDim + d];
    __syncthreads();
    for (int half = kDim / 2; half > 0; half /= 2) {
      if (d < half) products[d] += products[d + half];
      __syncthreads();
    }
    state.add(products[0], values[static_cast<size_t>(t) * kDim + d]);
    __syncthreads();
  }
  out[static_cast<size_t>(blockIdx.x) * kDim + d] = state.mix / state.sum;
}

template __global__ void attention_row<64>(const float*, const float*, const float*, float*, float, int, int);
