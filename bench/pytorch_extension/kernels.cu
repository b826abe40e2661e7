// The kernels of a PyTorch extension, as such code is written: a template over PyTorch's types, pointers without
// __restrict__, plain sums.
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <cuda_runtime.h>

#include <cstdint>

constexpr int kThreads = 128;

// out[row][i] = input[row][i] / rms(input[row]) * weight[i]
template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t* out, const scalar_t* input, const scalar_t* weight, float epsilon, int rows, int width) {
  const int row = blockIdx.x;
  __shared__ float partial[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = static_cast<float>(input[row * width + i]);
    sum += x * x;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < blockDim.x / 32; ++i) total += partial[i];
  const float scale = rsqrtf(total / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = static_cast<float>(input[row * width + i]);
    out[row * width + i] = static_cast<scalar_t>(x * scale * static_cast<float>(weight[i]));
  }
}

// sums[row] = the sum of a row of squares: a thread a row.
__global__ void square_sums_kernel(float* sums, const float* input, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < width; ++i) sum += input[row * width + i] * input[row * width + i];
  sums[row] = sum;
}

void rms_norm_bfloat16(void* out, const void* input, const void* weight, float epsilon, int rows, int width, cudaStream_t stream) {
  rms_norm_kernel<c10::BFloat16><<<rows, kThreads, 0, stream>>>(
      static_cast<c10::BFloat16*>(out), static_cast<const c10::BFloat16*>(input), static_cast<const c10::BFloat16*>(weight), epsilon, rows, width);
}

void rms_norm_float(void* out, const void* input, const void* weight, float epsilon, int rows, int width, cudaStream_t stream) {
  rms_norm_kernel<float><<<rows, kThreads, 0, stream>>>(
      static_cast<float*>(out), static_cast<const float*>(input), static_cast<const float*>(weight), epsilon, rows, width);
}

void square_sums(float* sums, const float* input, int rows, int width, cudaStream_t stream) {
  square_sums_kernel<<<(rows + kThreads - 1) / kThreads, kThreads, 0, stream>>>(sums, input, rows, width);
}
