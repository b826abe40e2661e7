#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> tiled_kernels() {
  return {
      // Tiles of one dimension, values on the way in registers, strips by an offset.
      {"flat_tiles", R"~(
const int kTile = 8;
__global__ void product(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
  const unsigned int tx = threadIdx.x, ty = threadIdx.y;
  __shared__ float As[kTile * kTile];
  __shared__ float Bs[kTile * (kTile + 1)];
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int start = 0; start < K; start += kTile) {
    float a = 0.0f, b = 0.0f;
    if (row < M && start + tx < K) a = A[row * K + start + tx];
    if (start + ty < K && col < N) b = B[(start + ty) * N + col];
    As[ty * kTile + tx] = a;
    Bs[ty * (kTile + 1) + tx] = b;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += As[ty * kTile + k] * Bs[k * (kTile + 1) + tx];
    __syncthreads();
  }
  if (row >= M || col >= N) return;
  C[row * N + col] = 1.5f * sum + C[row * N + col];
})~",
       R"~(
sizes: {M: 128, N: 128, K: 128}
args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: [M, N]}}
launch: {block: [8, 8], grid: ["(N + 7) / 8", "(M + 7) / 8"]}
tests: [{M: 45, N: 37, K: 29}, {M: 16, N: 32, K: 24}, {M: 1, N: 1, K: 1}]
)~"},
      // Sizes that tiles divide, without guards; the number of strips by floating point.
      {"whole_tiles", R"~(
#define kTile 8
__global__ void product(float* C, const float* A, const float* B, int width) {
  __shared__ float a[kTile][kTile];
  __shared__ float b[kTile][kTile];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int row = by * kTile + ty, col = bx * kTile + tx;
  float value = 0;
  for (int phase = 0; phase < ceil(width / (float)kTile); ++phase) {
    a[ty][tx] = A[row * width + (phase * kTile + tx)];
    b[ty][tx] = B[(phase * kTile + ty) * width + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) value += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[row * width + col] = value;
}
)~",
       R"~(
sizes: {width: 128}
args: {C: {dir: out, shape: [width, width]}, A: {dir: in, shape: [width, width]}, B: {dir: in, shape: [width, width]}}
launch: {block: [8, 8], grid: ["cdiv(width, 8)", "cdiv(width, 8)"]}
tests: [{width: 32}, {width: 8}]
)~"},
      // As the CUDA samples have it: two counters, places by parts.
      {"counted_tiles", R"~(
#define BLOCK 8
__global__ void product(float* C, float* A, float* B, int wA, int wB) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int aBegin = wA * BLOCK * by;
  int aEnd = aBegin + wA - 1;
  int aStep = BLOCK;
  int bBegin = BLOCK * bx;
  int bStep = BLOCK * wB;
  float sum = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BLOCK; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BLOCK * by + BLOCK * bx;
  C[c + wB * ty + tx] = sum;
})~",
       R"~(
sizes: {hA: 64, wA: 64, wB: 64}
args: {C: {dir: out, shape: [hA, wB]}, A: {dir: in, shape: [hA, wA]}, B: {dir: in, shape: [wA, wB]}}
launch: {block: [8, 8], grid: ["wB / 8", "hA / 8"]}
tests: [{hA: 16, wA: 24, wB: 32}, {hA: 8, wA: 8, wB: 8}]
)~"},
      // A vector that all threads of a block need, a block's width at a time.
      {"staged_vector", R"~(
__global__ void product(const float* A, const float* x, float* y, int rows, int columns) {
  __shared__ float piece[64];
  int column = blockIdx.x * 64 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < rows; first += 64) {
    piece[threadIdx.x] = first + threadIdx.x < rows ? x[first + threadIdx.x] : 0.0f;
    __syncthreads();
    if (column < columns) {
      for (int k = 0; k < min(64, rows - first); ++k) sum += A[(first + k) * columns + column] * piece[k];
    }
    __syncthreads();
  }
  if (column < columns) y[column] = sum;
})~",
       R"~(
sizes: {rows: 1024, columns: 512}
args: {A: {dir: in, shape: [rows, columns]}, x: {dir: in, shape: [rows]}, y: {dir: out, shape: [columns]}}
launch: {block: 64, grid: "cdiv(columns, 64)"}
tests: [{rows: 77, columns: 37}, {rows: 128, columns: 64}, {rows: 1, columns: 3}]
)~"},
      // Positions in dynamic shared memory, the extent of the block by its name.
      {"staged_positions", R"~(
__global__ void pull(const float4* position, float* force, int n) {
  extern __shared__ float4 others[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = i < n ? position[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += blockDim.x) {
    int j = tile + threadIdx.x;
    others[threadIdx.x] = j < n ? position[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      float d = others[k].x - mine.x;
      sum += others[k].w * d / (d * d + 1.0f);
    }
    __syncthreads();
  }
  if (i < n) force[i] = sum;
})~",
       R"~(
sizes: {n: 512}
args: {position: {dir: in, shape: [n]}, force: {dir: out, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, bx)", smem: "16 * bx"}
tests: [{n: 77}, {n: 128}, {n: 1}]
check: {tolerance: 1.0e-4}
)~"},
      // Parameters that move on along the tiles, a flat block, no guards: sizes are multiples of
      // the tile.
      {"advancing_tiles", R"~(
__global__ void product(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
  const unsigned block_row = blockIdx.x, block_column = blockIdx.y;
  __shared__ float As[8 * 8];
  __shared__ float Bs[8 * 8];
  const unsigned column = threadIdx.x % 8;
  const unsigned row = threadIdx.x / 8;
  A += block_row * 8 * K;
  B += block_column * 8;
  C += block_row * 8 * N + block_column * 8;
  float sum = 0.0f;
  for (int at = 0; at < K; at += 8) {
    As[row * 8 + column] = A[row * K + column];
    Bs[row * 8 + column] = B[row * N + column];
    __syncthreads();
    A += 8;
    B += 8 * N;
    for (int k = 0; k < 8; ++k) sum += As[row * 8 + k] * Bs[k * 8 + column];
    __syncthreads();
  }
  C[row * N + column] = alpha * sum + beta * C[row * N + column];
})~",
       R"~(
sizes: {M: 64, N: 64, K: 64}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [K, N]}
  C: {dir: inout, shape: [M, N]}
  alpha: 0.5
  beta: 2.0
launch: {block: 64, grid: ["M / 8", "N / 8"]}
tests: [{M: 16, N: 24, K: 32}, {M: 8, N: 8, K: 8}]
)~"},
      // A flat block without tiles, rows along x of the grid.
      {"flat_block", R"~(
__global__ void product(int M, int N, int K, const float* A, const float* B, float* C) {
  const int row = blockIdx.x * 16 + (threadIdx.x / 16);
  const int column = blockIdx.y * 16 + (threadIdx.x % 16);
  if (row < M && column < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
  }
})~",
       R"~(
sizes: {M: 64, N: 64, K: 64}
args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: out, shape: [M, N]}}
launch: {block: 256, grid: ["cdiv(M, 16)", "cdiv(N, 16)"]}
tests: [{M: 17, N: 33, K: 9}, {M: 32, N: 16, K: 16}, {M: 1, N: 1, K: 1}]
)~"},
  };
}

}  // namespace regraph::test
