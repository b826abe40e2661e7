// The metric is a template parameter: what it adds for each coordinate, and what becomes of the sum.
struct Euclidean {
  __device__ __forceinline__ static float term(float x, float y) { return (x - y) * (x - y); }
  __device__ __forceinline__ static float finish(float sum) { return sqrtf(sum); }
};

template <typename Metric>
__device__ __forceinline__ float distance(const float* __restrict__ x, const float* __restrict__ y, size_t dim) {
  float sum = 0.0f;
  for (size_t d = 0; d < dim; ++d) sum += Metric::term(x[d], y[d]);
  return Metric::finish(sum);
}

template <typename Metric>
__global__ void pairwise_distance(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out,
                                  int m, int n, int dim) {
  const size_t column = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t row = static_cast<size_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row < static_cast<size_t>(m) && column < static_cast<size_t>(n)) {
    out[row * n + column] = distance<Metric>(a + row * dim, b + column * dim, dim);
  }
}

template __global__ void pairwise_distance<Euclidean>(const float*, const float*, float*, int, int, int);
