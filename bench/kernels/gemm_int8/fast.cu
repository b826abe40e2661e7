// 128 x 128 elements a block, strips of 64 on their way to shared memory in four stages of asynchronous copies; each of
// eight warps multiplies 64 x 32 on the tensor cores, 16 x 8 x 32 at a time.
#include <cuda_pipeline.h>

constexpr int kTile = 128;
constexpr int kDepth = 64;
constexpr int kStages = 4;
constexpr int kPitch = kDepth + 16;
constexpr int kStage = 2 * kTile * kPitch;

// Sixteen elements of a row to shared memory, zeros beyond the matrix.
__device__ __forceinline__ void copy_sixteen(signed char* to, const signed char* __restrict__ matrix, int row, int rows,
                                             int column, int columns) {
  const bool inside = row < rows && column < columns;
  const signed char* from = matrix + (inside ? static_cast<size_t>(row) * columns + column : 0);
  if (columns % 16 == 0) {
    __pipeline_memcpy_async(to, from, 16, inside ? 0 : 16);
    return;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i)
    to[i] = inside && column + i < columns ? from[i] : 0;
}

// Four matrices of eight rows of 16 bytes; a lane's pointer leads to the row of its own number.
__device__ __forceinline__ void load_four(unsigned int (&to)[4], const signed char* from) {
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void multiply(int (&sum)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256, 2)
    gemm_int8(const signed char* __restrict__ A, const signed char* __restrict__ B, int* __restrict__ C, int M, int N,
              int K) {
  extern __shared__ __align__(128) signed char shared[];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int top = blockIdx.y * kTile;
  const int first = blockIdx.x * kTile;
  const int warp_row = warp / 4 * 64;
  const int warp_column = warp % 4 * 32;

  auto fetch = [&](int step) {
    signed char* left = shared + step % kStages * kStage;
    signed char* right = left + kTile * kPitch;
    const int k = step * kDepth;
#pragma unroll
    for (int i = thread; i < kTile * kDepth / 16; i += 256) {
      const int row = i / (kDepth / 16);
      const int at = i % (kDepth / 16) * 16;
      copy_sixteen(left + row * kPitch + at, A, top + row, M, k + at, K);
      copy_sixteen(right + row * kPitch + at, B, first + row, N, k + at, K);
    }
  };

  int sums[4][4][4] = {};
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
    const signed char* left = shared + step % kStages * kStage + (warp_row + lane % 16) * kPitch + lane / 16 * 16;
    const signed char* right = shared + step % kStages * kStage +
                               (kTile + warp_column + lane / 16 * 8 + lane % 8) * kPitch + lane / 8 % 2 * 16;
#pragma unroll
    for (int k = 0; k < kDepth; k += 32) {
      unsigned int a[4][4];
      unsigned int b[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_four(a[i], left + 16 * i * kPitch + k);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load_four(b[j], right + 16 * j * kPitch + k);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = top + warp_row + 16 * i + 8 * half + lane / 4;
      if (row >= M) continue;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first + warp_column + 8 * j + lane % 4 * 2;
        int* to = C + static_cast<size_t>(row) * N + column;
        if (N % 2 == 0) {
          if (column < N) *reinterpret_cast<int2*>(to) = make_int2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
        } else {
          if (column < N) to[0] = sums[i][j][2 * half];
          if (column + 1 < N) to[1] = sums[i][j][2 * half + 1];
        }
      }
    }
  }
}
