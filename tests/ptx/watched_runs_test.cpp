// Runs that note which way conditions went and what was written and read.
#include "ptx/address_log.h"
#include "ptx/ptx_test_support.h"

#include <algorithm>

namespace regraph::ptx::watched_runs_test {
namespace {

const Cancellation kNever;

// A branch on the block, a guard on the size, a select on the thread; block 3 stores twice.
constexpr const char* kPaths = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .pred %p<5>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, 64, %r3;
  setp.lt.u32 %p1, %r3, 7;
  selp.b32 %r5, 1, 2, %p1;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.ge.u32 %p2, %r4, %r1;
  @%p2 bra DONE;
  setp.gt.u32 %p3, %r1, 200;
  @%p3 add.s32 %r5, %r5, 10;
  setp.ne.u32 %p4, %r2, 3;
  @%p4 bra STORE;
  st.global.u32 [%rd3], %r1;
STORE:
  st.global.u32 [%rd3], %r5;
DONE:
  ret;
}
)ptx";

struct Watched {
  RunResult result;
  AddressLog log;
  std::uint64_t base = 0;
};

Watched watch(std::uint32_t n, std::vector<std::uint64_t> blocks, RunOptions options = {},
              bool log = false) {
  static const Program kProgram = load_or_die(kPaths, "k");
  DeviceMemory memory;
  Watched watched;
  watched.base = make_buffer(memory, "out", std::vector<std::uint32_t>(64 * 5));
  LaunchArguments arguments;
  arguments.grid = {5, 1, 1};
  arguments.block = {64, 1, 1};
  arguments.parameters = Parameters().add(watched.base).add(n).bytes();
  options.record_paths = true;
  options.blocks = std::move(blocks);
  if (log) options.writes = &watched.log;
  watched.result = run(kProgram, arguments, memory, options, kNever);
  EXPECT_TRUE(watched.result.ok()) << watched.result.fault.message;
  return watched;
}

// Which ways the instruction on the line that holds `text` went: "", "no", "yes" or "both".
std::string ways(const Watched& watched, const std::string& text) {
  const std::string ptx = kPaths;
  const auto at = static_cast<std::ptrdiff_t>(ptx.find(text));
  const auto line = 1 + std::count(ptx.begin(), ptx.begin() + at, '\n');
  for (const InstructionProfile& one : watched.result.profile.instructions) {
    if (one.ptx_line != line) continue;
    if (one.condition_was_false && one.condition_was_true) return "both";
    return one.condition_was_true ? "yes" : one.condition_was_false ? "no" : "";
  }
  return "no such line";
}

TEST(WatchedRuns, NoteWhichWayEachConditionWent) {
  const Watched small = watch(64, {0});
  EXPECT_EQ(ways(small, "@%p2 bra"), "no");
  EXPECT_EQ(ways(small, "@%p3 add"), "no");
  EXPECT_EQ(ways(small, "@%p4 bra"), "yes");
  EXPECT_EQ(ways(small, "selp"), "both");
  EXPECT_EQ(ways(small, "setp.lt"), "");
  const Watched large = watch(300, {2, 3});
  EXPECT_EQ(ways(large, "@%p2 bra"), "no");
  EXPECT_EQ(ways(large, "@%p3 add"), "yes");
  EXPECT_EQ(ways(large, "@%p4 bra"), "both");
  const Watched beyond = watch(300, {4});
  EXPECT_EQ(ways(beyond, "@%p2 bra"), "both");
}

TEST(WatchedRuns, NoteNothingUnlessAsked) {
  const Program program = load_or_die(kPaths, "k");
  DeviceMemory memory;
  const std::uint64_t out = make_buffer(memory, "out", std::vector<std::uint32_t>(64));
  LaunchArguments arguments;
  arguments.grid = {1, 1, 1};
  arguments.block = {64, 1, 1};
  arguments.parameters = Parameters().add(out).add(std::uint32_t{64}).bytes();
  const RunResult result = run(program, arguments, memory, {}, kNever);
  ASSERT_TRUE(result.ok());
  for (const InstructionProfile& one : result.profile.instructions)
    EXPECT_FALSE(one.condition_was_false || one.condition_was_true);
}

TEST(WatchedRuns, AreTheSameForAnyThreadsHandlersAndOtherWatches) {
  const Watched one = watch(300, {});
  const auto expect_same = [&](const RunOptions& options, bool log) {
    const Watched other = watch(300, {}, options, log);
    const auto& a = one.result.profile.instructions;
    const auto& b = other.result.profile.instructions;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].condition_was_false, b[i].condition_was_false) << i;
      EXPECT_EQ(a[i].condition_was_true, b[i].condition_was_true) << i;
      EXPECT_EQ(a[i].warp_executions, b[i].warp_executions) << i;
    }
  };
  for (const HandlerSet set :
       {HandlerSet::baseline, HandlerSet::x86_64_v3, HandlerSet::x86_64_v4}) {
    for (const int threads : {1, 2, 5}) {
      RunOptions options;
      options.handlers = set;
      options.threads = threads;
      expect_same(options, false);
      expect_same(options, true);
    }
  }
  RunOptions races;
  races.detect_races = true;
  expect_same(races, false);
}

TEST(WatchedRuns, LogWhatIsWritten) {
  const Watched inner = watch(300, {1}, {}, true);
  ASSERT_EQ(inner.log.ranges.size(), 1U);
  EXPECT_EQ(inner.log.ranges[0].begin, inner.base + 64 * 4);
  EXPECT_EQ(inner.log.ranges[0].end, inner.base + 128 * 4);
  // The last block ends at n.
  const Watched last = watch(300, {4}, {}, true);
  ASSERT_EQ(last.log.ranges.size(), 1U);
  EXPECT_EQ(last.log.ranges[0].end, last.base + 300 * 4);
  EXPECT_FALSE(last.log.full);
}

TEST(WatchedRuns, AFullLogSaysSo) {
  static const Program kProgram = load_or_die(kPaths, "k");
  DeviceMemory memory;
  const std::uint64_t out = make_buffer(memory, "out", std::vector<std::uint32_t>(64 * 5));
  LaunchArguments arguments;
  arguments.grid = {5, 1, 1};
  arguments.block = {64, 1, 1};
  arguments.parameters = Parameters().add(out).add(std::uint32_t{320}).bytes();
  AddressLog log;
  log.most_ranges = 1;
  RunOptions options;
  options.writes = &log;
  options.blocks = {0, 2};
  ASSERT_TRUE(run(kProgram, arguments, memory, options, kNever).ok());
  EXPECT_EQ(log.ranges.size(), 1U);
  EXPECT_TRUE(log.full);
}

// Every thread adds to its element of `out`, twice, what it reads of `in`, once through a generic
// address, and from shared memory.
constexpr const char* kReads = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<10>;
  .reg .b64 %rd<9>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  mul.wide.u32 %rd6, %r2, 4;
  mov.u64 %rd7, tile;
  add.s64 %rd8, %rd7, %rd6;
  ld.global.u32 %r4, [%rd4];
  st.shared.u32 [%rd8], %r4;
  ld.shared.u32 %r5, [%rd8];
  ld.global.u32 %r6, [%rd5];
  add.s32 %r7, %r6, %r5;
  st.global.u32 [%rd5], %r7;
  ld.u32 %r8, [%rd5];
  add.s32 %r9, %r8, %r5;
  st.global.u32 [%rd5], %r9;
  ret;
}
)ptx";

TEST(WatchedRuns, LogWhatIsReadOfMemoryThatMayBeWritten) {
  static const Program kProgram = load_or_die(kReads, "k");
  for (const std::size_t most : {std::size_t{1} << 20, std::size_t{1}}) {
    DeviceMemory first;
    const std::uint64_t in =
        make_buffer(first, "in", std::vector<std::uint32_t>(64 * 5, 5), BufferAccess::read_only);
    const std::vector<std::uint32_t> threes(1024, 3);
    const std::uint64_t out = *first.allocate_pattern("out", 64 * 5 * 4, BufferAccess::read_write,
                                                      std::as_bytes(std::span(threes)));
    const std::uint64_t other = *first.allocate("other", 4, BufferAccess::read_write);
    first.view(out)[4] = first.view(other)[1] = std::byte{9};
    // As it was before something was written.
    Result<DeviceMemory> twin = first.twin();
    ASSERT_TRUE(twin.ok()) << twin.error().message;
    DeviceMemory& memory = *twin;
    EXPECT_EQ(memory.view(in).data(), first.view(in).data());
    EXPECT_EQ(memory.view(other)[1], std::byte{0});
    LaunchArguments arguments;
    arguments.grid = {5, 1, 1};
    arguments.block = {64, 1, 1};
    arguments.parameters = Parameters().add(in).add(out).bytes();
    AddressLog log;
    log.most_ranges = most;
    RunOptions options;
    options.reads = &log;
    options.blocks = {1, 3};
    const RunResult result = run(kProgram, arguments, memory, options, kNever);
    ASSERT_TRUE(result.ok()) << result.fault.message;
    const auto values = read_buffer<std::uint32_t>(memory, out);
    EXPECT_EQ(values[0], 3U);
    EXPECT_EQ(values[1], 3U);
    EXPECT_EQ(values[64], 13U);
    EXPECT_EQ(values[3 * 64 + 63], 13U);
    EXPECT_EQ(read_buffer<std::uint32_t>(first, out)[64], 3U);
    EXPECT_EQ(log.full, most == 1);
    std::uint64_t bytes = 0;
    for (const AddressLog::Range& range : log.ranges) {
      EXPECT_TRUE((range.begin >= out + 64 * 4 && range.end <= out + 128 * 4) ||
                  (range.begin >= out + 192 * 4 && range.end <= out + 256 * 4));
      bytes += range.end - range.begin;
    }
    // Twice in each of two blocks.
    if (most > 1) {
      EXPECT_EQ(bytes, 2U * 2 * 64 * 4);
    }
  }
}

}  // namespace
}  // namespace regraph::ptx::watched_runs_test
