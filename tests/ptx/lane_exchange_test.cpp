// Shuffles, votes, matches, warp reductions and atomics.
#include "ptx/opcode_test_support.h"

#include <bit>
#include <set>

namespace regraph::ptx::lane_exchange_test {
namespace {

OpcodeInputs random_inputs() {
  OpcodeInputs inputs;
  for (std::size_t l = 0; l < 32; ++l) {
    inputs.values[0][l] = random_bits(1, l) & 0xffffffffU;
    inputs.values[1][l] = random_bits(2, l) % 4;
  }
  return inputs;
}

LaneValues run32(const std::string& body, const OpcodeInputs& inputs) {
  return run_opcode(opcode_kernel(body, 32), inputs, HandlerSet::automatic);
}

TEST(LaneExchangeTest, ShufflesFollowTheirSegments) {
  const OpcodeInputs inputs = random_inputs();
  const LaneValues& a = inputs.values[0];
  const LaneValues up = run32("shfl.sync.up.b32 %d32|%p, %a32, 3, 0, -1;", inputs);
  const LaneValues down = run32("shfl.sync.down.b32 %d32, %a32, 5, 31, -1;", inputs);
  const LaneValues bfly = run32("shfl.sync.bfly.b32 %d32, %a32, 6, 31, -1;", inputs);
  const LaneValues index = run32("shfl.sync.idx.b32 %d32, %a32, 9, 0x181f, -1;", inputs);
  const LaneValues half = run32("shfl.sync.down.b32 %d32, %a32, 4, 0x100f, -1;", inputs);
  const LaneValues valid =
      run32("shfl.sync.up.b32 %x0|%p, %a32, 3, 0, -1; selp.u32 %d32, 1, 0, %p;", inputs);
  for (std::size_t l = 0; l < 32; ++l) {
    EXPECT_EQ(up[l], a[l >= 3 ? l - 3 : l]);
    EXPECT_EQ(valid[l], l >= 3 ? 1U : 0U);
    EXPECT_EQ(down[l], a[l + 5 < 32 ? l + 5 : l]);
    EXPECT_EQ(bfly[l], a[l ^ 6]);
    EXPECT_EQ(index[l], a[(l & 0x18) | (9 & 7)]);          // segments of 8
    EXPECT_EQ(half[l], a[(l % 16) + 4 < 16 ? l + 4 : l]);  // segments of 16
  }
}

TEST(LaneExchangeTest, VotesMatchesAndReductions) {
  const OpcodeInputs inputs = random_inputs();
  const LaneValues& a = inputs.values[0];
  const LaneValues& b = inputs.values[1];
  std::uint32_t odd = 0;
  std::uint32_t sum = 0;
  std::uint32_t largest = 0;
  for (std::size_t l = 0; l < 32; ++l) {
    odd |= static_cast<std::uint32_t>(a[l] & 1) << l;
    sum += static_cast<std::uint32_t>(a[l]);
    largest = std::max(largest, static_cast<std::uint32_t>(a[l]));
  }
  const std::string is_odd = "and.b32 %x0, %a32, 1; setp.ne.u32 %p, %x0, 0;";
  const LaneValues ballot = run32(is_odd + "vote.sync.ballot.b32 %d32, %p, -1;", inputs);
  const LaneValues any =
      run32(is_odd + "vote.sync.any.pred %q, %p, -1; selp.u32 %d32, 1, 0, %q;", inputs);
  const LaneValues all =
      run32(is_odd + "vote.sync.all.pred %q, !%p, -1; selp.u32 %d32, 1, 0, %q;", inputs);
  const LaneValues match = run32("match.any.sync.b32 %d32, %b32, -1;", inputs);
  const LaneValues added = run32("redux.sync.add.u32 %d32, %a32, -1;", inputs);
  const LaneValues maximum = run32("redux.sync.max.u32 %d32, %a32, -1;", inputs);
  const LaneValues active = run32("activemask.b32 %d32;", inputs);
  for (std::size_t l = 0; l < 32; ++l) {
    EXPECT_EQ(ballot[l], odd);
    EXPECT_EQ(any[l], odd != 0 ? 1U : 0U);
    EXPECT_EQ(all[l], odd == 0 ? 1U : 0U);
    std::uint32_t same = 0;
    for (std::size_t other = 0; other < 32; ++other) {
      same |= (b[other] == b[l] ? 1U : 0U) << other;
    }
    EXPECT_EQ(match[l], same);
    EXPECT_EQ(added[l], sum);
    EXPECT_EQ(maximum[l], largest);
    EXPECT_EQ(active[l], 0xffffffffU);
  }
}

// Lanes below 8 go another way; after both ways met, each stores the active mask. Then all add up
// their lanes' numbers by shuffles.
TEST(LaneExchangeTest, LanesThatPartedMayStayApart) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 parts) {
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r8, [parts];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 1;
  setp.ge.u32 %p1, %r1, %r8;
  @%p1 bra MEETING;
  mov.u32 %r2, 2;
MEETING:
  activemask.b32 %r3;
  mov.u32 %r4, %r1;
  shfl.sync.bfly.b32 %r5, %r4, 16, 31, -1;
  add.s32 %r4, %r4, %r5;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  st.global.u32 [%rd3+4], %r4;
  ret;
}
)";
  const Program program = load_or_die(ptx, "k");
  const auto said = [&](std::uint32_t parts, bool apart) {
    DeviceMemory memory;
    const std::uint64_t out = make_buffer(memory, "out", std::vector<std::uint32_t>(64));
    Parameters parameters;
    parameters.add(out).add(parts);
    LaunchArguments arguments;
    arguments.block = {32, 1, 1};
    arguments.parameters = parameters.bytes();
    RunOptions options;
    options.lanes_stay_apart = apart;
    const RunResult result = run(program, arguments, memory, options, Cancellation());
    EXPECT_TRUE(result.ok()) << result.fault.message;
    return read_buffer<std::uint32_t>(memory, out);
  };
  for (const bool apart : {false, true}) {
    for (const std::uint32_t parts : {0U, 8U}) {
      const std::vector<std::uint32_t> values = said(parts, apart);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t like = lane % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU;
        EXPECT_EQ(values[2 * lane], apart && parts > 0 ? like : 0xffffffffU);
        EXPECT_EQ(values[2 * lane + 1], lane + (lane ^ 16U));
      }
    }
  }
}

// 64 threads of 4 blocks add to shared, then to global memory.
TEST(LaneExchangeTest, AtomicsAddUp) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .u32 total;
.visible .entry k(.param .u64 out) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @!%p st.shared.u32 [total], 0;
  bar.sync 0;
  atom.shared.add.u32 %r2, [total], %r1;
  bar.sync 0;
  ld.shared.u32 %r3, [total];
  @!%p red.global.add.u32 [%rd1], %r3;
  atom.global.max.s32 %r4, [%rd1+4], %r1;
  red.global.min.s32 [%rd1+8], -5;
  cvt.rn.f32.u32 %f1, %r1;
  red.global.add.f32 [%rd1+12], %f1;
  atom.global.cas.b32 %r5, [%rd1+16], 0, 77;
  atom.global.exch.b32 %r5, [%rd1+20], %r1;
  atom.global.inc.u32 %r5, [%rd1+24], 2;
  red.global.or.b32 [%rd1+28], %r1;
  ret;
})";
  const Program program = load_or_die(ptx, "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(8));
  const RunResult result =
      run_kernel(program, memory, {4, 1, 1}, {64, 1, 1}, Parameters().add(out));
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto values = read_buffer<std::uint32_t>(memory, out);
  EXPECT_EQ(values[0], 4U * (63 * 64 / 2));
  EXPECT_EQ(values[1], 63U);
  EXPECT_EQ(values[2], static_cast<std::uint32_t>(-5));
  EXPECT_EQ(std::bit_cast<float>(values[3]), 4.0F * (63 * 64 / 2));
  EXPECT_EQ(values[4], 77U);
  EXPECT_EQ(values[5], 63U);
  EXPECT_EQ(values[6], 256U % 3);
  EXPECT_EQ(values[7], 63U);
}

}  // namespace
}  // namespace regraph::ptx::lane_exchange_test
