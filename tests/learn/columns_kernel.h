// A kernel whose neighbours in x walk down columns, so that coalesce_swap pays, and its manifest.
#pragma once

namespace regraph {

inline constexpr const char* kColumns =
    R"cuda(__global__ void add(const float* a, const float* b, float* c, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns)
    c[row * columns + column] = a[row * columns + column] + b[row * columns + column];
}
)cuda";
inline constexpr const char* kColumnsManifest = R"yaml(sizes: {rows: 2048, columns: 1024}
args:
  a: {shape: [rows, columns]}
  b: {shape: [rows, columns]}
  c: {dir: out, shape: [rows, columns]}
launch: {block: [16, 16], grid: ["cdiv(rows, bx)", "cdiv(columns, by)"]}
tests: [{rows: 33, columns: 20}]
)yaml";

}  // namespace regraph
