// One block a row of scores; the mask is a policy.
template <typename T>
struct Causal {
  static constexpr T kHidden = T(-1.0e30);
  __device__ __forceinline__ static bool visible(size_t query, size_t key) { return key <= query; }
};

template <typename T, template <typename> class Mask>
__device__ void mask_row(T* __restrict__ row, T scale, size_t query, size_t length) {
  for (size_t key = threadIdx.x; key < length; key += blockDim.x) {
    row[key] = Mask<T>::visible(query, key) ? row[key] * scale : Mask<T>::kHidden;
  }
}

__global__ void causal_mask(float* __restrict__ scores, float scale, int heads, int length) {
  const size_t row = blockIdx.x;
  mask_row<float, Causal>(scores + row * length, scale, row % length, length);
}
