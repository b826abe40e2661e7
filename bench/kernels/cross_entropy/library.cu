// Forward pass of softmax and negative log likelihood, fused; one block a sample.
struct MaxOperation {
  static constexpr float kIdentity = -3.402823466e38f;
  __device__ static __forceinline__ float combine(float a, float b) { return fmaxf(a, b); }
};
struct AddOperation {
  static constexpr float kIdentity = 0.0f;
  __device__ static __forceinline__ float combine(float a, float b) { return a + b; }
};

template <typename Operation>
__device__ float reduce_block(float value) {
  __shared__ float slots[256];
  slots[threadIdx.x] = value;
  __syncthreads();
  for (unsigned active = 128; active != 0; active /= 2) {
    if (threadIdx.x < active) slots[threadIdx.x] = Operation::combine(slots[threadIdx.x], slots[threadIdx.x + active]);
    __syncthreads();
  }
  return slots[0];
}

__global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, int rows, int classes) {
  const float* __restrict__ sample = logits + static_cast<size_t>(blockIdx.x) * static_cast<size_t>(classes);
  float peak = MaxOperation::kIdentity;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) peak = MaxOperation::combine(peak, sample[c]);
  peak = reduce_block<MaxOperation>(peak);
  float sum = AddOperation::kIdentity;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) sum = AddOperation::combine(sum, expf(sample[c] - peak));
  sum = reduce_block<AddOperation>(sum);
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + peak - sample[labels[blockIdx.x]];
}
