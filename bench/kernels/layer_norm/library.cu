// One block a row, sums by a tree in shared memory.
constexpr int kBlock = 256;

template <typename T>
__device__ T block_sum(T value, T* buffer) {
  buffer[threadIdx.x] = value;
  __syncthreads();
  for (int offset = kBlock / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) buffer[threadIdx.x] += buffer[threadIdx.x + offset];
    __syncthreads();
  }
  const T total = buffer[0];
  __syncthreads();
  return total;
}

template <typename T>
__global__ void layer_norm(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                           T* __restrict__ out, int rows, int columns, T epsilon) {
  __shared__ T buffer[kBlock];
  const T* __restrict__ source = x + static_cast<size_t>(blockIdx.x) * columns;
  T* __restrict__ target = out + static_cast<size_t>(blockIdx.x) * columns;
  T sum = T(0);
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) sum += source[c];
  const T mean = block_sum(sum, buffer) / columns;
  T squares = T(0);
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) {
    squares += (source[c] - mean) * (source[c] - mean);
  }
  const T scale = rsqrtf(block_sum(squares, buffer) / columns + epsilon);
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) {
    target[c] = (source[c] - mean) * scale * gamma[c] + beta[c];
  }
}

template __global__ void layer_norm<float>(const float*, const float*, const float*, float*, int, int, float);
