#include "rewrite/sample_kernels.h"

namespace regraph::test {

// Elements of two bytes and of one: products, rows, neighbourhoods, sums, conversions.
std::vector<SampleKernel> narrow_kernels() {
  return {
      {"narrow_product", R"~(
#include <cuda_fp16.h>
__global__ void product(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
    C[row * N + col] = __float2half(sum);
  }
})~",
       R"~(
sizes: {M: 512, N: 512, K: 512}
args: {A: {dir: in, shape: [M, K], init: normal}, B: {dir: in, shape: [K, N], init: normal}, C: {dir: out, shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 128, K: 64}, {M: 1, N: 3, K: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      {"narrow_convolution", R"~(
#include <cuda_fp16.h>
__global__ void convolution(const __half* in, const __half* filter, const __half* bias, __half* out,
                            int O, int C, int H, int W) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int n = blockIdx.z / O;
  int o = blockIdx.z % O;
  if (x >= W || y >= H) return;
  float sum = __half2float(bias[o]);
  for (int c = 0; c < C; ++c)
    for (int fy = 0; fy < 3; ++fy)
      for (int fx = 0; fx < 3; ++fx) {
        int iy = y + fy - 1;
        int ix = x + fx - 1;
        if (iy >= 0 && iy < H && ix >= 0 && ix < W)
          sum += __half2float(in[((n * C + c) * H + iy) * W + ix]) *
                 __half2float(filter[((o * C + c) * 3 + fy) * 3 + fx]);
      }
  out[((n * O + o) * H + y) * W + x] = __float2half(sum);
})~",
       R"~(
sizes: {N: 4, O: 32, C: 16, H: 56, W: 56}
args: {in: {dir: in, shape: ["N * C", H, W], init: normal}, filter: {dir: in, shape: [O, C, 3, 3], init: normal}, bias: {dir: in, shape: [O]}, out: {dir: out, shape: ["N * O", H, W]}}
launch: {block: [32, 4], grid: ["cdiv(W, bx)", "cdiv(H, by)", "N * O"]}
tests: [{N: 2, O: 3, C: 3, H: 5, W: 7}, {N: 1, O: 4, C: 8, H: 4, W: 8}]
assume: {noalias: true, reassociate: true}
)~"},
      // The second factor lies as a layer's weights do, and a bias is added.
      {"narrow_layer", R"~(
#include <cuda_bf16.h>
__global__ void layer(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                      __nv_bfloat16* y, int rows, int outputs, int inputs) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (o >= outputs || r >= rows) return;
  float sum = __bfloat162float(bias[o]);
  for (int i = 0; i < inputs; ++i)
    sum += __bfloat162float(x[(long)r * inputs + i]) * __bfloat162float(weight[(long)o * inputs + i]);
  y[(long)r * outputs + o] = __float2bfloat16(sum > 0.0f ? sum : 0.0f);
})~",
       R"~(
sizes: {rows: 256, outputs: 512, inputs: 512}
args:
  x: {dir: in, shape: [rows, inputs], init: normal}
  weight: {dir: in, shape: [outputs, inputs], init: normal}
  bias: {dir: in, shape: [outputs], init: normal}
  y: {dir: out, shape: [rows, outputs]}
launch: {block: [32, 4], grid: ["cdiv(outputs, bx)", "cdiv(rows, by)"]}
tests: [{rows: 33, outputs: 70, inputs: 45}, {rows: 64, outputs: 64, inputs: 64}, {rows: 1, outputs: 2, inputs: 3}]
assume: {noalias: true, reassociate: true}
)~"},
      // The same for a few rows.
      {"narrow_decoding", R"~(
#include <cuda_fp16.h>
__global__ void decoding(const __half* x, const __half* weight, __half* y, int rows, int outputs, int inputs) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (o >= outputs) return;
  float sum = 0.0f;
  for (int i = 0; i < inputs; ++i) sum += __half2float(x[r * inputs + i]) * __half2float(weight[o * inputs + i]);
  y[r * outputs + o] = __float2half(sum);
})~",
       R"~(
sizes: {rows: 5, outputs: 512, inputs: 512}
args:
  x: {dir: in, shape: [rows, inputs], init: normal}
  weight: {dir: in, shape: [outputs, inputs], init: normal}
  y: {dir: out, shape: [rows, outputs]}
launch: {block: 64, grid: ["cdiv(outputs, bx)", rows]}
tests: [{rows: 5, outputs: 70, inputs: 200}, {rows: 18, outputs: 64, inputs: 64}, {rows: 1, outputs: 2, inputs: 3}]
assume: {noalias: true, reassociate: true}
)~"},
      // Weights of four bits, groups of which have a scale.
      {"narrow_quantized", R"~(
#include <cuda_bf16.h>
__global__ void quantized(const int* words, const float* scales, const __nv_bfloat16* x, const float* bias,
                          __nv_bfloat16* y, int rows, int groups) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = bias[row];
    for (int g = 0; g < groups; ++g) {
      float part = 0.0f;
      for (int w = 0; w < 4; ++w) {
        for (int j = 0; j < 8; ++j)
          part += (float)(((words[(row * groups + g) * 4 + w] >> (4 * j)) & 15) - 8) * __bfloat162float(x[g * 32 + w * 8 + j]);
      }
      sum += part * scales[row * groups + g];
    }
    y[row] = __float2bfloat16(sum);
  }
})~",
       R"~(
sizes: {rows: 512, groups: 32}
args:
  words: {dir: in, shape: [rows, 4 * groups], init: "int(-2147483648, 2147483647)"}
  scales: {dir: in, shape: [rows, groups], init: "uniform(-1,1)"}
  x: {dir: in, shape: [32 * groups], init: normal}
  bias: {dir: in, shape: [rows], init: normal}
  y: {dir: out, shape: [rows]}
launch: {block: 64, grid: ["cdiv(rows, bx)"]}
tests: [{rows: 70, groups: 5}, {rows: 64, groups: 8}, {rows: 1, groups: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      // Weights of four bits, eight in a word.
      {"narrow_packed", R"~(
#include <cuda_fp16.h>
__global__ void packed_rows(const unsigned int* packed, const __half* scales, const __half* x, __half* y, int rows, int groups) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int w = 0; w < groups * 8; ++w) {
    unsigned int word = packed[row * groups * 8 + w];
    float scale = __half2float(scales[row * groups + w / 8]);
    for (int j = 0; j < 8; ++j) sum += scale * (float)((int)((word >> (4 * j)) & 15) - 8) * __half2float(x[w * 8 + j]);
  }
  y[row] = __float2half(sum);
})~",
       R"~(
sizes: {rows: 256, groups: 16}
args:
  packed: {dir: in, shape: [rows, 8 * groups], init: "int(0, 4294967295)"}
  scales: {dir: in, shape: [rows, groups], init: "uniform(-1,1)"}
  x: {dir: in, shape: [64 * groups], init: normal}
  y: {dir: out, shape: [rows]}
launch: {block: 64, grid: ["cdiv(rows, bx)"]}
tests: [{rows: 70, groups: 5}, {rows: 3, groups: 8}, {rows: 1, groups: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      // Two places of a row, a block each.
      {"narrow_gate", R"~(
#include <cuda_fp16.h>
__global__ void gate(__half* out, const __half* in, int d) {
  long token = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    float x = __half2float(in[token * 2 * d + i]);
    float y = __half2float(in[token * 2 * d + d + i]);
    out[token * d + i] = __float2half(x / (1.0f + expf(-x)) * y);
  }
})~",
       R"~(
sizes: {tokens: 256, d: 4096}
args: {out: {dir: out, shape: [tokens, d]}, in: {dir: in, shape: [tokens, 2 * d], init: normal}}
launch: {block: 128, grid: tokens}
tests: [{tokens: 5, d: 131}, {tokens: 3, d: 1024}, {tokens: 1, d: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      // Weights in single precision beside rows of halves.
      {"narrow_norm", R"~(
#include <cuda_bf16.h>
__global__ void norm_rows(const __nv_bfloat16* x, const float* weight, __nv_bfloat16* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) {
    float v = __bfloat162float(x[row * columns + c]);
    squares += v * v;
  }
  float scale = rsqrtf(squares / columns + 1e-5f);
  for (int c = 0; c < columns; ++c)
    y[row * columns + c] = __float2bfloat16(__bfloat162float(x[row * columns + c]) * scale * weight[c]);
})~",
       R"~(
sizes: {rows: 1024, columns: 1024}
args:
  x: {dir: in, shape: [rows, columns], init: normal}
  weight: {dir: in, shape: [columns], init: normal}
  y: {dir: out, shape: [rows, columns]}
launch: {block: 64, grid: ["cdiv(rows, bx)"]}
tests: [{rows: 37, columns: 77}, {rows: 5, columns: 512}, {rows: 2, columns: 3}]
assume: {noalias: true, reassociate: true}
)~"},
      {"narrow_blend", R"~(
#include <cuda_fp16.h>
__global__ void blend(const __half* a, const float* b, __half* out, float weight, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(__half2float(a[i]) * weight + b[i] * (1.0f - weight));
})~",
       R"~(
sizes: {n: 1048576}
args: {a: {dir: in, shape: [n], init: normal}, b: {dir: in, shape: [n], init: normal}, out: {dir: out, shape: [n]}, weight: 0.25}
launch: {block: 256, grid: ["cdiv(n, bx)"]}
tests: [{n: 1000}, {n: 1024}, {n: 3}]
assume: {noalias: true}
)~"},
      // Of two bytes in, of one out.
      {"narrow_quantise", R"~(
#include <cuda_fp16.h>
__global__ void quantise(const __half* x, signed char* q, float inverse, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = rintf(__half2float(x[i]) * inverse);
  v = fminf(fmaxf(v, -127.0f), 127.0f);
  q[i] = (signed char)(int)v;
})~",
       R"~(
sizes: {n: 1048576}
args: {x: {dir: in, shape: [n], init: normal}, q: {dir: out, shape: [n]}, inverse: 40.0}
launch: {block: 256, grid: ["cdiv(n, bx)"]}
tests: [{n: 1000}, {n: 2048}, {n: 3}]
assume: {noalias: true}
)~"},
      {"narrow_dot", R"~(
#include <cuda_fp16.h>
__global__ void dot(const __half* a, const __half* b, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, __half2float(a[i]) * __half2float(b[i]));
})~",
       R"~(
sizes: {n: 4194304}
args: {a: {dir: in, shape: [n], init: normal}, b: {dir: in, shape: [n], init: normal}, sum: {dir: inout, shape: [1]}}
launch: {block: 256, grid: ["cdiv(n, bx)"]}
tests: [{n: 1000}, {n: 8192}, {n: 3}]
assume: {noalias: true, reassociate: true}
)~"},
      {"narrow_heat", R"~(
#include <cuda_fp16.h>
__global__ void heat(const __half* in, __half* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
  int i = y * width + x;
  float sum = __half2float(in[i - 1]) + __half2float(in[i + 1]) + __half2float(in[i - width]) +
              __half2float(in[i + width]);
  out[i] = __float2half(0.5f * __half2float(in[i]) + 0.125f * sum);
})~",
       R"~(
sizes: {height: 1024, width: 1024}
args: {in: {dir: in, shape: [height, width], init: normal}, out: {dir: inout, shape: [height, width]}}
launch: {block: [32, 4], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{height: 37, width: 256}, {height: 21, width: 45}, {height: 3, width: 3}]
assume: {noalias: true}
)~"},
  };
}

}  // namespace regraph::test
