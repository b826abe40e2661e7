// 128 x 128 elements a block, strips of 32 on their way to shared memory in four stages of asynchronous copies; each of
// eight warps multiplies 64 x 32 on the tensor cores.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 128;
constexpr int kDepth = 32;
constexpr int kStages = 4;
constexpr int kLeftPitch = kDepth + 8;
constexpr int kRightPitch = kTile + 8;
constexpr int kStage = kTile * kLeftPitch + kDepth * kRightPitch;
constexpr int kSumPitch = 20;

// Eight elements of a row to shared memory, zeros beyond the matrix.
__device__ __forceinline__ void copy_eight(__half* to, const __half* __restrict__ matrix, int row, int rows, int column,
                                           int columns) {
  const bool inside = row < rows && column < columns;
  const __half* from = matrix + (inside ? static_cast<size_t>(row) * columns + column : 0);
  if (columns % 8 == 0) {
    __pipeline_memcpy_async(to, from, 16, inside ? 0 : 16);
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    to[i] = inside && column + i < columns ? from[i] : __float2half(0.0f);
}

__global__ void __launch_bounds__(256, 2)
    hgemm(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) __half shared[];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int top = blockIdx.y * kTile;
  const int first = blockIdx.x * kTile;
  const int warp_row = warp / 4 * 64;
  const int warp_column = warp % 4 * 32;

  auto fetch = [&](int step) {
    __half* left = shared + step % kStages * kStage;
    __half* right = left + kTile * kLeftPitch;
    const int k = step * kDepth;
#pragma unroll
    for (int i = thread; i < kTile * kDepth / 8; i += 256) {
      const int row = i / (kDepth / 8);
      const int at = i % (kDepth / 8) * 8;
      copy_eight(left + row * kLeftPitch + at, A, top + row, M, k + at, K);
    }
#pragma unroll
    for (int i = thread; i < kDepth * kTile / 8; i += 256) {
      const int row = i / (kTile / 8);
      const int at = i % (kTile / 8) * 8;
      copy_eight(right + row * kRightPitch + at, B, k + row, K, first + at, N);
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
    const __half* left = shared + step % kStages * kStage + warp_row * kLeftPitch;
    const __half* right = shared + step % kStages * kStage + kTile * kLeftPitch + warp_column;
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[2];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::load_matrix_sync(a[i], left + 16 * i * kLeftPitch + k, kLeftPitch);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        wmma::load_matrix_sync(b[j], right + k * kRightPitch + 16 * j, kRightPitch);
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
        __half* to = C + static_cast<size_t>(row) * N + column;
        if (N % 8 == 0) {
          __align__(16) __half2 result[4];
#pragma unroll
          for (int k = 0; k < 4; ++k)
            result[k] = __floats2half2_rn(from[2 * k], from[2 * k + 1]);
          *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(result);
        } else {
          for (int k = 0; k < 8 && column + k < N; ++k)
            to[k] = __float2half_rn(from[k]);
        }
      }
      __syncwarp();
    }
  }
}
