#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> course_kernels() {
  return {
      {"tiled_product", R"~(
#define TILE 16
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty;
  int col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    if (row < M && t * TILE + tx < K)
      As[ty][tx] = A[row * K + t * TILE + tx];
    else
      As[ty][tx] = 0.0f;
    if (col < N && t * TILE + ty < K)
      Bs[ty][tx] = B[(t * TILE + ty) * N + col];
    else
      Bs[ty][tx] = 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
})~",
       R"~(
sizes: {M: 128, N: 128, K: 128}
args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: out, shape: [M, N]}}
launch: {block: [16, 16], grid: ["cdiv(N, 16)", "cdiv(M, 16)"]}
tests: [{M: 45, N: 37, K: 29}, {M: 32, N: 32, K: 48}, {M: 1, N: 1, K: 1}]
)~"},
      {"batched_product", R"~(
__global__ void batched(const float* A, const float* B, float* C, int batch, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int one = blockIdx.z;
  if (row >= M || col >= N) return;
  const float* a = A + one * M * K;
  const float* b = B + one * K * N;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
  C[(one * M + row) * N + col] = sum;
})~",
       R"~(
sizes: {batch: 8, M: 64, N: 64, K: 64}
args:
  A: {dir: in, shape: [batch, M, K]}
  B: {dir: in, shape: [batch, K, N]}
  C: {dir: out, shape: [batch, M, N]}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)", batch]}
tests: [{batch: 3, M: 45, N: 37, K: 29}, {batch: 2, M: 32, N: 32, K: 16}, {batch: 1, M: 1, N: 1, K: 1}]
)~"},
      {"seven_point_stencil", R"~(
__global__ void heat(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
    int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
  }
})~",
       R"~(
sizes: {nx: 64, ny: 32, nz: 32}
args: {in: {dir: in, shape: [nz, ny, nx]}, out: {dir: inout, shape: [nz, ny, nx]}}
launch: {block: [32, 4, 2], grid: ["cdiv(nx, bx)", "cdiv(ny, by)", "cdiv(nz, bz)"]}
tests: [{nx: 101, ny: 13, nz: 7}, {nx: 64, ny: 16, nz: 8}, {nx: 1, ny: 1, nz: 1}]
)~"},
      {"column_sums", R"~(
__global__ void columns(const float* A, float* out, int rows, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < cols) {
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r) sum += A[r * cols + col];
    out[col] = sum;
  }
})~",
       R"~(
sizes: {rows: 2048, cols: 4096}
args: {A: {dir: in, shape: [rows, cols]}, out: {dir: out, shape: [cols]}}
launch: {block: 256, grid: "cdiv(cols, bx)"}
tests: [{rows: 45, cols: 300}, {rows: 64, cols: 64}, {rows: 1, cols: 1}]
)~"},
      {"zero_padded_3x3", R"~(
#define R 1
__global__ void filter3x3(const float* image, const float* weights, float* out, int width,
                          int height) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= width || row >= height) return;
  float value = 0.0f;
  for (int fy = 0; fy < 2 * R + 1; fy++) {
    for (int fx = 0; fx < 2 * R + 1; fx++) {
      int y = row - R + fy;
      int x = col - R + fx;
      float pixel = (y >= 0 && y < height && x >= 0 && x < width) ? image[y * width + x] : 0.0f;
      value += pixel * weights[fy * (2 * R + 1) + fx];
    }
  }
  out[row * width + col] = value;
})~",
       R"~(
sizes: {width: 256, height: 128}
args:
  image: {dir: in, shape: [height, width]}
  weights: {dir: in, shape: [9]}
  out: {dir: out, shape: [height, width]}
launch: {block: [32, 8], grid: ["cdiv(width, bx)", "cdiv(height, by)"]}
tests: [{width: 101, height: 67}, {width: 96, height: 96}, {width: 1, height: 1}]
)~"},
  };
}

}  // namespace regraph::test
