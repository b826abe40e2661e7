#include <cuda_fp16.h>

// C = A * transposed(B) of halves with sums in single precision, tiles of 64 x 64 by 64 in four
// buffers: one warp has tiles copied in bulk, row by row, as mbarriers say that there is room; a
// warpgroup multiplies them by wgmma. A and B lie in memory as rows of tiles of 8 x 64, swizzled
// (cells of 16 bytes of row r at their place xor r), as a copy of tensors would leave them.
constexpr int kTile = 64;
constexpr int kStages = 4;
constexpr unsigned kBytes = kTile * kTile * 2;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void wait(unsigned barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\n$WAIT%=:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra $WAIT%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void copy(unsigned to, const half* from, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          to),
      "l"(from), "r"(kBytes), "r"(barrier)
      : "memory");
}
__device__ unsigned long long descriptor(unsigned address) {
  return (1ULL << 62) | (64ULL << 32) | (1ULL << 16) | (address >> 4);
}

extern "C" __global__ void __launch_bounds__(160)
    matmul_wgmma(const half* a, const half* b, float* c, int n) {
  __shared__ __align__(1024) half tiles[kStages][2][kTile * kTile];
  __shared__ __align__(8) unsigned long long barriers[2 * kStages];
  const int thread = threadIdx.x;
  const unsigned full = shared_address(barriers);
  const unsigned empty = full + 8 * kStages;
  if (thread == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * i) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;" ::"r"(empty + 8 * i) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int rounds = n / kTile;
  if (thread >= 128) {
    if (thread != 128) return;
    for (int i = 0; i < rounds; ++i) {
      const int stage = i % kStages;
      const unsigned barrier = full + 8 * stage;
      wait(empty + 8 * stage, (i / kStages + 1) % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(2 * kBytes)
                   : "memory");
      const int tile = kTile * kTile;
      copy(shared_address(tiles[stage][0]), a + (blockIdx.y * rounds + i) * tile, barrier);
      copy(shared_address(tiles[stage][1]), b + (blockIdx.x * rounds + i) * tile, barrier);
    }
    return;
  }
  float d[32] = {};
  for (int i = 0; i < rounds; ++i) {
    const int stage = i % kStages;
    wait(full + 8 * stage, i / kStages % 2);
    const unsigned at = shared_address(tiles[stage][0]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k) {
      asm volatile(
          "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
          "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
          "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
          "%32, %33, p, 1, 1, 0, 0;\n}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]),
            "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),
            "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
            "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
            "+f"(d[31])
          : "l"(descriptor(at + 32 * k)), "l"(descriptor(at + kBytes + 32 * k)));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (thread % 32 == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + 8 * stage) : "memory");
  }
  const int lane = thread % 32;
  for (int i = 0; i < 32; i += 2) {
    const int row = blockIdx.y * kTile + thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int column = blockIdx.x * kTile + i / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(d[i], d[i + 1]);
  }
}
