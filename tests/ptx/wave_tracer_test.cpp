#include "ptx/caches/wave_tracer.h"

#include "ptx/decode/code.h"
#include "ptx/decode/slice.h"
#include "ptx/ptx_test_support.h"

namespace regraph::ptx::wave_tracer_test {
namespace {

class WaveTracerTest : public testing::Test {
 protected:
  // vector_add over `elements`, buffers of which hold as many.
  void launch(int elements, int buffer_elements) {
    program = load_or_die(read_kernel("vector_add.sm_90"), "vector_add");
    Parameters parameters;
    for (int i = 0; i < 3; ++i) {
      parameters.add(*memory.allocate("buffer", static_cast<std::size_t>(buffer_elements) * 4,
                                      BufferAccess::read_write));
    }
    arguments.grid = {static_cast<std::uint32_t>(elements / 256), 1, 1};
    arguments.block = {256, 1, 1};
    arguments.parameters = parameters.add(elements).bytes();
    take_slice();
  }

  void take_slice() {
    slice = *decode(program->code().module, program->code().function->name,
                    *address_slice(program->code()));
    launch_memory = *make_launch_memory(*slice, arguments, memory, nullptr);
    sliced.emplace(SlicedLaunch{*slice, arguments, *launch_memory, never, 1'000'000, false});
  }

  DeviceMemory memory;
  LaunchArguments arguments;
  Cancellation never;
  std::optional<Program> program;
  std::shared_ptr<const Program::Code> slice;
  std::unique_ptr<LaunchMemory> launch_memory;
  std::optional<SlicedLaunch> sliced;
};

// What the block addresses, in order; lines as they are.
std::vector<std::uint64_t> lines_of(const BlockRequests& block) {
  std::vector<std::uint64_t> lines;
  for (std::size_t i = block.begin; i < block.end; ++i)
    lines.push_back(block.trace->requests()[i].line);
  return lines;
}

TEST_F(WaveTracerTest, BlocksAreInOrderWhoeverTracedThem) {
  launch(100 * 256, 100 * 256);
  ThreadBudget none;
  ThreadBudget four;
  four.limit(4);
  const ThreadBudget::Share calling = four.enter();
  WaveTracer alone(*sliced, none);
  WaveTracer together(*sliced, four);
  for (const std::uint64_t first : {0, 50}) {
    const auto a = alone.trace(first, 50);
    auto b = together.trace(first, 50);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->tracers.size(), 1U);
    EXPECT_EQ(a->requests, 50U * 8 * 3);
    EXPECT_EQ(b->requests, a->requests);
    ASSERT_EQ(b->blocks.size(), 50U);
    for (std::size_t block = 0; block < 50; ++block)
      EXPECT_EQ(lines_of(b->blocks[block]), lines_of(a->blocks[block])) << block;
    together.give_back(*std::move(b));
  }
}

TEST_F(WaveTracerTest, ATracerGivenBackIsUsedAgainWithoutItsRequests) {
  launch(8 * 256, 8 * 256);
  ThreadBudget none;
  WaveTracer tracer(*sliced, none);
  auto first = tracer.trace(0, 4);
  ASSERT_TRUE(first);
  const BlockTracer* used = first->tracers.front().get();
  tracer.give_back(*std::move(first));
  const auto second = tracer.trace(4, 4);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->tracers.front().get(), used);
  EXPECT_EQ(second->blocks.front().begin, 0U);
  EXPECT_EQ(second->requests, 4U * 8 * 3);
}

TEST_F(WaveTracerTest, TheEarliestFailureIsTold) {
  launch(64 * 256, 10 * 256);
  ThreadBudget threads;
  threads.limit(4);
  const ThreadBudget::Share calling = threads.enter();
  WaveTracer tracer(*sliced, threads);
  for (int i = 0; i < 20; ++i) {
    const auto wave = tracer.trace(0, 64);
    ASSERT_FALSE(wave);
    EXPECT_EQ(wave.error().error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(wave.error().kernel_fault.kind, FaultKind::out_of_bounds);
    EXPECT_EQ(wave.error().kernel_fault.block.x, 10U);
  }
}

// Behind the last of a pipeline's tiles lanes copy nothing, from wherever.
TEST_F(WaveTracerTest, ACopyOfNoBytesAccessesNothing) {
  constexpr int kCopied = 8;
  program = load_or_die(R"ptx(
.version 8.4
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 from)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 tile[512];
  ld.param.u64 %rd1, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, tile;
  add.s32 %r4, %r3, %r2;
  setp.lt.u32 %p1, %r1, 8;
  selp.b32 %r5, 16, 0, %p1;
  cp.async.cg.shared.global [%r4], [%rd3], 16, %r5;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ret;
}
)ptx",
                        "copies");
  Parameters parameters;
  parameters.add(*memory.allocate("from", kCopied * 16, BufferAccess::read_only));
  arguments.grid = {1, 1, 1};
  arguments.block = {32, 1, 1};
  arguments.parameters = parameters.bytes();
  take_slice();
  ThreadBudget none;
  WaveTracer tracer(*sliced, none);
  const auto traced = tracer.trace(0, 1);
  ASSERT_TRUE(traced) << traced.error().error.message;
  ASSERT_EQ(traced->blocks.size(), 1U);
  EXPECT_EQ(lines_of(traced->blocks[0]).size(), 1U);  // 8 lanes of 16 bytes: 128 bytes
}

}  // namespace
}  // namespace regraph::ptx::wave_tracer_test
