// What Python sees of the kernels.
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

void rms_norm_bfloat16(void* out, const void* input, const void* weight, float epsilon, int rows,
                       int width, cudaStream_t stream);
void rms_norm_float(void* out, const void* input, const void* weight, float epsilon, int rows,
                    int width, cudaStream_t stream);
void square_sums(float* sums, const float* input, int rows, int width, cudaStream_t stream);

torch::Tensor rms_norm(const torch::Tensor& input, const torch::Tensor& weight, double epsilon) {
  TORCH_CHECK(input.is_cuda() && input.is_contiguous() && input.dim() == 2,
              "input: rows on the GPU, one behind the other");
  torch::Tensor out = torch::empty_like(input);
  const auto launch = input.scalar_type() == torch::kBFloat16 ? rms_norm_bfloat16 : rms_norm_float;
  launch(out.data_ptr(), input.data_ptr(), weight.data_ptr(), static_cast<float>(epsilon),
         static_cast<int>(input.size(0)), static_cast<int>(input.size(1)),
         c10::cuda::getCurrentCUDAStream());
  return out;
}

torch::Tensor row_square_sums(const torch::Tensor& input) {
  TORCH_CHECK(input.is_cuda() && input.is_contiguous() && input.dim() == 2,
              "input: rows on the GPU, one behind the other");
  torch::Tensor sums = torch::empty({input.size(0)}, input.options());
  square_sums(sums.data_ptr<float>(), input.data_ptr<float>(), static_cast<int>(input.size(0)),
              static_cast<int>(input.size(1)), c10::cuda::getCurrentCUDAStream());
  return sums;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("rms_norm", &rms_norm);
  module.def("square_sums", &row_square_sums);
}
