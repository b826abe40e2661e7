#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>

namespace at {
namespace native {
namespace {
template <typename scalar_t, typename accscalar_t>
__global__ void row_sums(const scalar_t* in, scalar_t* out, int64_t rows, int64_t width) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  accscalar_t sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += static_cast<accscalar_t>(in[row * width + i]);
  out[row] = static_cast<scalar_t>(sum);
}
}  // namespace

void sum_rows(const Tensor& in, Tensor& out) {
  using scalar_t = at::Half;
  using accscalar_t = acc_type<scalar_t, true>;
  row_sums<scalar_t, accscalar_t><<<ceil_div(in.size(0), 256l), 256>>>(
      in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), in.size(0), in.size(1));
}
}  // namespace native
}  // namespace at
