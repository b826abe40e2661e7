// The harness's own device code.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiler.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::gpu {

// The harness's kernels for an architecture, as a worker needs them: a cubin. Errors as
// Compiler::compile.
[[nodiscard]] Result<std::vector<std::uint8_t>> compile_harness(Compiler& compiler,
                                                                const std::string& architecture,
                                                                const Cancellation& cancellation);

// Sweeps the L2 by reading: a sweep that writes would leave lines whose write-back overlaps the
// kernel that is timed. Poisons outputs. Stamps clocks: whichever block runs on SM 0 notes that
// SM's clock and the global timer, so that two stamps give the clock's rate in between. Counts
// words that differ from a pattern.
inline constexpr const char* kHarnessSource = R"cuda(
extern "C" __global__ void regraph_sweep(const uint4* data, unsigned long long count,
                                         unsigned* sink) {
  unsigned seen = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += (unsigned long long)gridDim.x * blockDim.x) {
    const uint4 value = __ldcg(data + i);
    seen |= value.x ^ value.y ^ value.z ^ value.w;
  }
  if (seen == 0x9e3779b9u) *sink = seen;
}

extern "C" __global__ void regraph_poison(unsigned* words, unsigned long long count,
                                          unsigned long long seed) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += (unsigned long long)gridDim.x * blockDim.x) {
    unsigned long long x = (i + seed) * 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    words[i] = (unsigned)((x ^ (x >> 31)) >> 32);
  }
}

extern "C" __global__ void regraph_stamp(unsigned long long* stamp) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm != 0) return;
  unsigned long long clock, time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
  stamp[0] = clock;
  stamp[1] = time;
}

extern "C" __global__ void regraph_compare(const unsigned char* bytes, unsigned long long count,
                                           unsigned char pattern, unsigned* different) {
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
       i += (unsigned long long)gridDim.x * blockDim.x) {
    if (bytes[i] != pattern) atomicAdd(different, 1u);
  }
}
)cuda";

inline constexpr const char* kSweepKernel = "regraph_sweep";
inline constexpr const char* kPoisonKernel = "regraph_poison";
inline constexpr const char* kStampKernel = "regraph_stamp";
inline constexpr const char* kCompareKernel = "regraph_compare";

}  // namespace regraph::gpu
