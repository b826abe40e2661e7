#include <cuda_fp16.h>
#include <cuda_pipeline.h>

// C = A * B of halves with sums in single precision, all row-major; tiles of 64 x 64 by 32 for four
// warps: cp.async into two buffers, ldmatrix, mma.sync. n is a multiple of 64.
constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kRowA = kDepth + 8;
constexpr int kRowB = kTile + 8;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

extern "C" __global__ void matmul_mma(const half* a, const half* b, float* c, int n) {
  __shared__ __align__(16) half tile_a[2][kTile * kRowA];
  __shared__ __align__(16) half tile_b[2][kDepth * kRowB];
  const int thread = threadIdx.x;
  const int lane = thread % 32;
  const int row = thread / 64 * 32;
  const int column = thread / 32 % 2 * 32;
  const half* from_a = a + blockIdx.y * kTile * n;
  const half* from_b = b + blockIdx.x * kTile;
  float sums[2][4][4] = {};
  auto copy = [&](int stage, int k) {
    for (int i = thread; i < kTile * kDepth / 8; i += 128) {
      __pipeline_memcpy_async(&tile_a[stage][i / 4 * kRowA + i % 4 * 8],
                              &from_a[i / 4 * n + k + i % 4 * 8], 16);
      __pipeline_memcpy_async(&tile_b[stage][i / 8 * kRowB + i % 8 * 8],
                              &from_b[(k + i / 8) * n + i % 8 * 8], 16);
    }
    __pipeline_commit();
  };
  copy(0, 0);
  for (int k = 0; k < n; k += kDepth) {
    const int stage = k / kDepth % 2;
    if (k + kDepth < n) {
      copy(1 - stage, k + kDepth);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int step = 0; step < kDepth; step += 16) {
      unsigned fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i) {
        const half* p =
            &tile_a[stage][(row + 16 * i + lane % 16) * kRowA + step + lane / 16 * 8];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(shared_address(p)));
      }
      for (int j = 0; j < 4; j += 2) {
        const half* p =
            &tile_b[stage][(step + lane % 16) * kRowB + column + 8 * j + lane / 16 * 8];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1]), "=r"(fb[j + 1][0]), "=r"(fb[j + 1][1])
                     : "r"(shared_address(p)));
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          float* s = sums[i][j];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]),
                "r"(fb[j][1]));
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int h = 0; h < 2; ++h) {
        const int r = blockIdx.y * kTile + row + 16 * i + lane / 4 + 8 * h;
        const int q = blockIdx.x * kTile + column + 8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(&c[r * n + q]) =
            make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
    }
  }
}
