// rms_norm_kernel of kernels.cu with __restrict__ and without PyTorch: what the extension's kernel should gain as well.
#include <cuda_bf16.h>

__global__ void rms_norm_twin(__nv_bfloat16* __restrict__ out, const __nv_bfloat16* __restrict__ input,
                              const __nv_bfloat16* __restrict__ weight, float epsilon, int rows, int width) {
  const int row = blockIdx.x;
  __shared__ float partial[32];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = __bfloat162float(input[row * width + i]);
    sum += x * x;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < blockDim.x / 32; ++i) total += partial[i];
  const float scale = rsqrtf(total / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = __bfloat162float(input[row * width + i]);
    out[row * width + i] = __float2bfloat16(x * scale * __bfloat162float(weight[i]));
  }
}

int main() {
  const int rows = 4096, width = 4096;
  __nv_bfloat16 *out, *input, *weight;
  cudaMalloc(&out, sizeof(*out) * rows * width);
  cudaMalloc(&input, sizeof(*input) * rows * width);
  cudaMalloc(&weight, sizeof(*weight) * width);
  rms_norm_twin<<<rows, 128>>>(out, input, weight, 1e-5f, rows, width);
  return cudaDeviceSynchronize();
}
