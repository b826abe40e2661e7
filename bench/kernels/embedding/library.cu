// Gathers rows, one block a row.
template <typename T, typename Index>
__device__ void copy_row(const T* __restrict__ table, Index word, T* __restrict__ target, size_t width) {
  const T* __restrict__ source = table + static_cast<size_t>(word) * width;
  for (size_t i = threadIdx.x; i < width; i += blockDim.x) target[i] = source[i];
}

template <typename T, typename Index>
__global__ void embedding(const T* __restrict__ table, const Index* __restrict__ index, T* __restrict__ out,
                          int tokens, int width) {
  const size_t token = blockIdx.x;
  copy_row<T, Index>(table, index[token], out + token * static_cast<size_t>(width), static_cast<size_t>(width));
}

template __global__ void embedding<float, int>(const float*, const int*, float*, int, int);
