#include "ptx/ptx_test_support.h"

#include <algorithm>
#include <set>

namespace regraph::ptx::special_registers_test {
namespace {

// Every thread stores %warpid, %nwarpid and a word of local memory that nobody wrote.
constexpr const char* kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .local .align 8 .b8 memory[16];
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 12;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r5, %warpid;
  mov.u32 %r6, %nwarpid;
  ld.local.u32 %r7, [memory];
  st.global.u32 [%rd3], %r5;
  st.global.u32 [%rd3+4], %r6;
  st.global.u32 [%rd3+8], %r7;
  ret;
}
)";

constexpr std::uint32_t kBlocks = 3;
constexpr std::uint32_t kThreads = 256;

std::vector<std::uint32_t> said(std::uint64_t hardware_seed) {
  const Program program = load_or_die(kPtx, "k");
  DeviceMemory memory;
  const std::uint64_t out =
      make_buffer(memory, "out", std::vector<std::uint32_t>(3 * kBlocks * kThreads));
  RunOptions options;
  options.hardware_seed = hardware_seed;
  Parameters parameters;
  parameters.add(out);
  LaunchArguments arguments;
  arguments.grid = {kBlocks, 1, 1};
  arguments.block = {kThreads, 1, 1};
  arguments.parameters = parameters.bytes();
  const RunResult result = run(program, arguments, memory, options, Cancellation());
  EXPECT_TRUE(result.ok()) << result.fault.message;
  return read_buffer<std::uint32_t>(memory, out);
}

TEST(SpecialRegisters, WarpSlotsAreTheWarpsNumbersWithoutASeed) {
  const std::vector<std::uint32_t> values = said(0);
  for (std::uint32_t i = 0; i < kBlocks * kThreads; ++i) {
    EXPECT_EQ(values[3 * i], i % kThreads / 32);
    EXPECT_EQ(values[3 * i + 1], 64U);
    EXPECT_EQ(values[3 * i + 2], 0xffffffffU);
  }
}

TEST(SpecialRegisters, WarpSlotsAreDifferentOnesInNoOrder) {
  const std::vector<std::uint32_t> values = said(5);
  bool in_order = true;
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    std::set<std::uint32_t> slots;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      const std::uint32_t slot = values[3 * (block * kThreads + thread)];
      EXPECT_LT(slot, 64U);
      // One of a warp.
      EXPECT_EQ(slot, values[3 * (block * kThreads + thread / 32 * 32)]);
      slots.insert(slot);
      in_order = in_order && slot == thread / 32;
    }
    EXPECT_EQ(slots.size(), kThreads / 32);
  }
  EXPECT_FALSE(in_order);
  EXPECT_EQ(said(5), values);
  EXPECT_NE(said(6), values);
}

TEST(SpecialRegisters, LocalMemoryHoldsOtherBitsInEveryRunAndBlock) {
  const std::vector<std::uint32_t> values = said(5);
  EXPECT_NE(values[2], 0xffffffffU);
  EXPECT_NE(values[2], values[3 * kThreads + 2]);
  EXPECT_NE(values[2], said(6)[2]);
}

}  // namespace
}  // namespace regraph::ptx::special_registers_test
