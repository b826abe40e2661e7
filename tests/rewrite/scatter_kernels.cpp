#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kScatter = R"~(
sizes: {rows: 4096, width: 128, nodes: 512}
args:
  in: {dir: in, shape: [rows, width], init: "int(-4,4)"}
  index: {dir: in, shape: [rows], init: "int(0, nodes - 1)"}
  out: {dir: inout, shape: [nodes, width], init: "int(-2,2)"}
launch: {block: 128, grid: "cdiv(rows * width, bx)"}
tests: [{rows: 40, width: 24, nodes: 7}, {rows: 33, width: 7, nodes: 5}, {rows: 9, width: 16, nodes: 1}, {rows: 1, width: 1, nodes: 1}]
assume: {noalias: true, reassociate: true}
)~";

constexpr const char* kRows = R"~(
sizes: {rows: 4096, width: 128, nodes: 512}
args:
  in: {dir: in, shape: [rows, width], init: "int(-4,4)"}
  index: {dir: in, shape: [rows], init: "int(-1, nodes - 1)"}
  out: {dir: inout, shape: [nodes, width], init: "int(-2,2)"}
launch: {block: 64, grid: ["cdiv(width, bx)", rows]}
tests: [{rows: 40, width: 24, nodes: 7}, {rows: 33, width: 7, nodes: 5}, {rows: 9, width: 66, nodes: 1}, {rows: 1, width: 1, nodes: 1}]
assume: {noalias: true, reassociate: true}
)~";

}  // namespace

std::vector<SampleKernel> scatter_kernels() {
  return {
      {"scatter_add", R"~(
__global__ void scatter_add(const float* in, const int* index, float* out, int rows, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * width) {
    int row = i / width;
    int column = i % width;
    atomicAdd(&out[index[row] * width + column], in[row * width + column]);
  }
})~",
       kScatter},
      {"scatter_add_half", R"~(
#include <cuda_fp16.h>
__global__ void scatter_add(const __half* in, const int* index, __half* out, int rows, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * width) {
    int row = i / width;
    int column = i % width;
    atomicAdd(&out[index[row] * width + column], in[row * width + column]);
  }
})~",
       kScatter},
      // Rows that go nowhere, and a factor for each.
      {"scatter_rows", R"~(
__global__ void scatter_rows(const float* in, const int* index, float* out, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= width) return;
  const int target = index[row];
  const float factor = target > 1 ? 2.0f : 1.0f;
  if (target >= 0) atomicAdd(out + target * width + column, factor * in[row * width + column]);
})~",
       kRows},
      {"scatter_rows_bfloat", R"~(
#include <cuda_bf16.h>
__global__ void scatter_rows(const __nv_bfloat16* in, const int* index, __nv_bfloat16* out, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= width) return;
  const int target = index[row];
  if (target >= 0) atomicAdd(out + target * width + column, in[row * width + column]);
})~",
       kRows},
  };
}

}  // namespace regraph::test
