// 128 x 128 elements a block, strips of 32 on their way to shared memory in four stages of asynchronous copies; each of
// eight warps multiplies 64 x 32 on the tensor cores. Rows of B are columns of the right factor.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 128;
constexpr int kDepth = 32;
constexpr int kStages = 4;
constexpr int kPitch = kDepth + 8;
constexpr int kStage = 2 * kTile * kPitch;
constexpr int kSumPitch = 20;

// Eight elements of a row to shared memory, zeros beyond the matrix.
__device__ __forceinline__ void copy_eight(__nv_bfloat16* to, const __nv_bfloat16* __restrict__ matrix, int row,
                                           int rows, int column, int columns) {
  const bool inside = row < rows && column < columns;
  const __nv_bfloat16* from = matrix + (inside ? static_cast<size_t>(row) * columns + column : 0);
  if (columns % 8 == 0) {
    __pipeline_memcpy_async(to, from, 16, inside ? 0 : 16);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    to[i] = inside && column + i < columns ? from[i] : __float2bfloat16(0.0f);
}

__global__ void __launch_bounds__(256, 2)
    gemm_bf16_nt(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                 const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) __nv_bfloat16 shared[];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int top = blockIdx.y * kTile;
  const int first = blockIdx.x * kTile;
  const int warp_row = warp / 4 * 64;
  const int warp_column = warp % 4 * 32;

  auto fetch = [&](int step) {
    __nv_bfloat16* left = shared + step % kStages * kStage;
    __nv_bfloat16* right = left + kTile * kPitch;
    const int k = step * kDepth;
#pragma unroll
    for (int i = thread; i < kTile * kDepth / 8; i += 256) {
      const int row = i / (kDepth / 8);
      const int at = i % (kDepth / 8) * 8;
      copy_eight(left + row * kPitch + at, A, top + row, M, k + at, K);
      copy_eight(right + row * kPitch + at, B, first + row, N, k + at, K);
    }
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::fill_fragment(sums[i][j], 0.0f);
  }
  const int steps = (K + kDepth - 1) / kDepth;
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) {
    if (step < steps) fetch(step);
    __pipeline_commit();
  }
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    if (step + kStages - 1 < steps) fetch(step + kStages - 1);
    __pipeline_commit();
    const __nv_bfloat16* left = shared + step % kStages * kStage + warp_row * kPitch;
    const __nv_bfloat16* right = shared + step % kStages * kStage + (kTile + warp_column) * kPitch;
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::load_matrix_sync(a[i], left + 16 * i * kPitch + k, kPitch);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        wmma::load_matrix_sync(b[j], right + 16 * j * kPitch + k, kPitch);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j)
          wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
      }
    }
  }
  __pipeline_wait_prior(0);
  __syncthreads();

  // Through shared memory, 16 x 16 at a time, eight results a lane.
  float* mine = reinterpret_cast<float*>(shared) + warp * 16 * kSumPitch;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(mine, sums[i][j], kSumPitch, wmma::mem_row_major);
      __syncwarp();
      const float* from = mine + lane / 2 * kSumPitch + lane % 2 * 8;
      const int row = top + warp_row + 16 * i + lane / 2;
      const int column = first + warp_column + 16 * j + lane % 2 * 8;
      if (row < M && column < N) {
        __nv_bfloat16* to = C + static_cast<size_t>(row) * N + column;
        float added[8];
#pragma unroll
        for (int k = 0; k < 8; ++k)
          added[k] = column + k < N ? __bfloat162float(bias[column + k]) : 0.0f;
        if (N % 8 == 0) {
          __align__(16) __nv_bfloat162 result[4];
#pragma unroll
          for (int k = 0; k < 4; ++k)
            result[k] = __floats2bfloat162_rn(from[2 * k] + added[2 * k], from[2 * k + 1] + added[2 * k + 1]);
          *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(result);
        } else {
#pragma unroll
          for (int k = 0; k < 8; ++k) {
            if (column + k < N) to[k] = __float2bfloat16_rn(from[k] + added[k]);
          }
        }
      }
      __syncwarp();
    }
  }
}
