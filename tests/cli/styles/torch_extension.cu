#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(256)
__global__ void silu(scalar_t* __restrict__ out, const scalar_t* __restrict__ in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = static_cast<float>(in[i]);
    out[i] = static_cast<scalar_t>(x / (1.0f + expf(-x)));
  }
}

torch::Tensor run(torch::Tensor in) {
  auto out = torch::empty_like(in);
  const int n = in.numel();
  AT_DISPATCH_REDUCED_FLOATING_TYPES(in.scalar_type(), "silu", [&] {
    silu<scalar_t><<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<scalar_t>(), in.data_ptr<scalar_t>(), n);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
