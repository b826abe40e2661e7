// Sorting network with a comparison as parameter.
template <typename T>
struct Less {
  __device__ __forceinline__ bool operator()(const T& a, const T& b) const { return a < b; }
};

template <typename T>
__device__ __forceinline__ void exchange(T& a, T& b) {
  const T held = a;
  a = b;
  b = held;
}

template <typename T, typename Compare>
__device__ __forceinline__ void compare_exchange(T* __restrict__ data, unsigned low, unsigned high, bool ascending,
                                                 Compare compare) {
  if (compare(data[high], data[low]) == ascending && data[low] != data[high]) exchange(data[low], data[high]);
}

__global__ void bitonic_step(float* __restrict__ data, int n, int j, int k) {
  const unsigned low = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned high = low ^ static_cast<unsigned>(j);
  if (high > low && high < static_cast<unsigned>(n)) {
    compare_exchange(data, low, high, (low & static_cast<unsigned>(k)) == 0, Less<float>());
  }
}
