"""Pairs of question and answer as ReGraph's prompts and the rewriter make them."""

QUESTION = """# Step
loop_unroll: factor = 4

# Kernel row_sum
[begin device code 0123456789ab]
// The sum of every row.
#include <cuda_fp16.h>
#define LIMIT 4
__device__ float twice(float value) {
  return 2.0f * value;  // doubled
}
__global__ void row_sum(
    const float* in,
    float* out,
    int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      sum += twice(in[row * columns + c]) * 1.0e-3f;
    }
    out[row] = sum + LIMIT;
  }
}
[end device code 0123456789ab]

Launch: {"block": [128, 1, 1], "grid": ["cdiv(rows, bx)", "1", "1"], "smem": "0"}

Arguments (shapes in elements, row-major)
in: float*, in, shape [rows, columns]
out: float*, out, shape [rows]
rows: int, size rows
columns: int, size columns

Sizes
timed at {columns: 1024, rows: 16384}
"""

ANSWER = """```cuda
#include <cuda_fp16.h>
#define LIMIT 4
__device__ float twice(float value) {
  return 2.0f * value;
}
__global__ void row_sum(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum_part = 0.0f;
  int first_row = row;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      sum += twice(in[row * columns + c]) * 1.0e-3f;
    }
    out[first_row] = sum + sum_part + LIMIT;
  }
}
```

```json
{"block": [256, 1, 1], "grid": ["cdiv(rows, bx)", "1", "1"], "smem": "0"}
```"""

PROMPT = [{"role": "system", "content": "Rewrite `__global__` function row_sum."}, {"role": "user", "content": QUESTION}]


def pairs(count):
    """Small pairs that a tiny model learns to answer: a kernel with a number, and the same one unrolled."""
    rows = []
    for number in range(count):
        code = f"__global__ void k{number % 7}(float* a) {{ a[{number % 10}] = {number % 3}; }}"
        rows.append({"messages": [
            {"role": "system", "content": "Rewrite."},
            {"role": "user", "content": f"# Kernel k{number % 7}\n[begin device code ab]\n{code}\n[end device code ab]"},
            {"role": "assistant", "content": f"```cuda\n{code}\n```"}]})
    return rows
