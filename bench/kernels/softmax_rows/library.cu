// One block a row; the reduction takes its operation as a functor.
struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <int kBlock, typename Operation>
__device__ float block_reduce(float value, float* shared, Operation operation) {
  const int thread = threadIdx.x;
  shared[thread] = value;
  __syncthreads();
  for (int stride = kBlock / 2; stride > 0; stride >>= 1) {
    if (thread < stride) shared[thread] = operation(shared[thread], shared[thread + stride]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

template <int kBlock>
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ out, int rows, int columns) {
  __shared__ float shared[kBlock];
  const size_t offset = static_cast<size_t>(blockIdx.x) * static_cast<size_t>(columns);
  float peak = -INFINITY;
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) peak = fmaxf(peak, x[offset + c]);
  peak = block_reduce<kBlock>(peak, shared, Maximum());
  float sum = 0.0f;
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) sum += expf(x[offset + c] - peak);
  sum = block_reduce<kBlock>(sum, shared, Plus());
  const float inverse = 1.0f / sum;
  for (size_t c = threadIdx.x; c < static_cast<size_t>(columns); c += kBlock) {
    out[offset + c] = expf(x[offset + c] - peak) * inverse;
  }
}

template __global__ void softmax_rows<256>(const float*, float*, int, int);
