// Planted bugs are caught, their clean twins pass; faults name what, where and who.
#include "ptx/ptx_test_support.h"

namespace regraph::ptx::checks_test {
namespace {

std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p, %q;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n" +
         body + "\nret;\n}\n";
}

// in: 64 floats, read-only; out: 64 floats.
RunResult run_body(const std::string& body, const RunOptions& options = {},
                   const std::string& before = "", std::uint32_t threads = 64,
                   std::uint32_t dynamic_shared = 0) {
  const Program program = load_or_die(kernel(body, before), "k");
  DeviceMemory memory;
  const auto in = make_buffer(memory, "input", std::vector<float>(64), BufferAccess::read_only);
  const auto out = make_buffer(memory, "output", std::vector<float>(64));
  return run_kernel(program, memory, {3, 1, 1}, {threads, 1, 1}, Parameters().add(in).add(out),
                    options, dynamic_shared);
}

void expect_fault(const RunResult& result, FaultKind kind, const std::string& words) {
  EXPECT_EQ(name(result.fault.kind), name(kind)) << result.fault.message;
  EXPECT_NE(result.fault.message.find(words), std::string::npos) << result.fault.message;
}

TEST(ChecksTest, OutOfBoundsByOneElement) {
  EXPECT_TRUE(run_body("ld.global.f32 %f1, [%rd4];").ok());
  const RunResult after = run_body("ld.global.f32 %f1, [%rd4+4];");
  expect_fault(after, FaultKind::out_of_bounds, "0 bytes past the end of 'input' (256 bytes)");
  EXPECT_EQ(after.fault.thread, (Dim3{63, 0, 0}));
  EXPECT_EQ(after.fault.block, (Dim3{0, 0, 0}));
  EXPECT_EQ(after.fault.ptx_line, 16);
  EXPECT_EQ(after.profile.thread_instructions, 0U);
  expect_fault(run_body("st.global.f32 [%rd5+-4], 0f00000000;"), FaultKind::out_of_bounds,
               "4 bytes before the start of 'output' (256 bytes)");
  expect_fault(run_body("mov.u64 %rd6, 0; ld.global.f32 %f1, [%rd6];"), FaultKind::out_of_bounds,
               "null pointer");
  // A whole megabyte too far still hits no other buffer.
  expect_fault(run_body("ld.global.f32 %f1, [%rd4+1048576];"), FaultKind::out_of_bounds, "'input'");
  // A loop that walks off the end on a remembered pattern.
  expect_fault(run_body("mov.u32 %r2, 0;\nL: ld.global.f32 %f1, [%rd4];\nadd.s64 %rd4, %rd4, 128;\n"
                        "add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p, %r2, 3;\n@%p bra L;",
                        {}, "", 32),
               FaultKind::out_of_bounds, "'input'");
}

// 64 threads; the buffer is 240 bytes, and 16 are slack.
TEST(ChecksTest, AccessesInTheSlackPassAndAreCounted) {
  const auto run = [](const std::string& body) {
    const Program program = load_or_die(kernel(body), "k");
    DeviceMemory memory;
    std::vector<std::byte> bytes(256);
    EXPECT_TRUE(memory.adopt("rounded", 0x10000, bytes, 16).ok());
    RunResult result =
        run_kernel(program, memory, {3, 1, 1}, {64, 1, 1},
                   Parameters().add(std::uint64_t{0x10000}).add(std::uint64_t{0x10000}));
    return std::pair(std::move(result), std::move(bytes));
  };
  const auto [read, untouched] = run("ld.global.f32 %f1, [%rd4];");
  EXPECT_TRUE(read.ok()) << read.fault.message;
  EXPECT_EQ(read.slack.reads, 12U);  // four threads in each of three blocks
  EXPECT_EQ(read.slack.writes, 0U);
  EXPECT_NE(read.slack.first.message.find("0 bytes past the end of 'rounded' (240 bytes)"),
            std::string::npos)
      << read.slack.first.message;
  EXPECT_EQ(read.slack.first.block, (Dim3{0, 0, 0}));
  EXPECT_EQ(read.slack.first.thread, (Dim3{60, 0, 0}));
  const auto [write, written] = run("st.global.u32 [%rd5], %r1;");
  EXPECT_TRUE(write.ok()) << write.fault.message;
  EXPECT_EQ(write.slack.writes, 12U);
  EXPECT_EQ(written[252], std::byte{63});
  const auto [atomic, added] = run("red.global.add.u32 [%rd2+252], 1;");
  EXPECT_EQ(atomic.slack.writes, 192U);
  EXPECT_EQ(added[252], std::byte{192});
  const auto [wide, same] = run("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+240];");
  EXPECT_TRUE(wide.ok());
  EXPECT_EQ(wide.slack.reads, 192U);
  // A loop on a remembered pattern.
  const auto [loop, left] =
      run("mov.u32 %r2, 0;\nL: ld.global.f32 %f1, [%rd2];\nadd.s64 %rd2, %rd2, 4;\n"
          "add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p, %r2, 64;\n@%p bra L;");
  EXPECT_TRUE(loop.ok());
  EXPECT_EQ(loop.slack.reads, 4U * 192);
  const auto [inside, none] = run("ld.global.f32 %f1, [%rd2+236];");
  EXPECT_EQ(inside.slack.reads, 0U);
  EXPECT_EQ(inside.slack.first.kind, FaultKind::none);
  expect_fault(run("ld.global.f32 %f1, [%rd4+4];").first, FaultKind::out_of_bounds,
               "past the end of 'rounded' (240 bytes)");
}

TEST(ChecksTest, ReadOnlyAndMisaligned) {
  EXPECT_TRUE(run_body("st.global.f32 [%rd5], 0f3F800000;").ok());
  expect_fault(run_body("st.global.f32 [%rd4], 0f3F800000;"), FaultKind::write_to_read_only,
               "'input'");
  expect_fault(run_body("red.global.add.f32 [%rd4], 0f3F800000;"), FaultKind::write_to_read_only,
               "'input'");
  expect_fault(run_body("ld.global.f32 %f1, [%rd1+2];"), FaultKind::misaligned, "multiple of 4");
  expect_fault(run_body("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+8];"), FaultKind::misaligned,
               "multiple of 16");
  EXPECT_TRUE(run_body("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];").ok());
}

TEST(ChecksTest, SharedMemoryHasGapsAndAnEnd) {
  const std::string shared =
      ".shared .align 4 .b8 first[256];\n.shared .align 4 .b8 second[256];\n"
      ".extern .shared .align 4 .b8 dynamic[];\n";
  const std::string store = "mov.u32 %r2, first; shl.b32 %r3, %r1, 2; add.s32 %r2, %r2, %r3;";
  EXPECT_TRUE(run_body(store + "st.shared.u32 [%r2], %r1;", {}, shared).ok());
  expect_fault(
      run_body(store + "st.shared.u32 [%r2+4], %r1; st.shared.u32 [second], %r1;", {}, shared),
      FaultKind::out_of_bounds, "past the end of 'first' (256 bytes)");
  const std::string dynamic =
      "mov.u32 %r2, dynamic; shl.b32 %r3, %r1, 2; add.s32 %r2, %r2, %r3;"
      "st.shared.u32 [%r2], %r1;";
  EXPECT_TRUE(run_body(dynamic, {}, shared, 64, 256).ok());
  expect_fault(run_body(dynamic, {}, shared, 64, 252), FaultKind::out_of_bounds,
               "dynamic shared memory");
  RunOptions small;
  small.shared_limit_bytes = 200;
  EXPECT_EQ(run_body(dynamic, small, shared, 64, 256).fault.kind, FaultKind::bad_launch);
  // Generic addresses reach shared memory too, and are checked there.
  EXPECT_TRUE(run_body("mov.u64 %rd6, first; cvta.shared.u64 %rd7, %rd6; st.u32 [%rd7+252], %r1;"
                       "isspacep.shared %p, %rd7; @%p bra DONE; trap; DONE:",
                       {}, shared)
                  .ok());
  expect_fault(run_body("mov.u64 %rd6, first; cvta.shared.u64 %rd7, %rd6; st.u32 [%rd7+256], %r1;",
                        {}, shared),
               FaultKind::out_of_bounds, "'first'");
}

TEST(ChecksTest, LocalMemoryIsOnePerThread) {
  const std::string body =
      ".local .align 4 .b8 mine[16];\nst.local.u32 [mine+4], %r1;\n"
      "ld.local.u32 %r2, [mine+4];\nsetp.ne.u32 %p, %r1, %r2;\n@%p trap;\n";
  EXPECT_TRUE(run_body(body).ok());
  expect_fault(run_body(body + "st.local.u32 [mine+16], %r1;"), FaultKind::out_of_bounds,
               "local memory");
}

TEST(ChecksTest, BarrierDivergence) {
  EXPECT_TRUE(run_body("bar.sync 0;").ok());
  // The second warp never arrives.
  const std::string skip_warp = "setp.ge.u32 %p, %r1, 32;\n@%p bra DONE;\nbar.sync 0;\nDONE:";
  EXPECT_TRUE(run_body(skip_warp).ok());
  RunOptions strict;
  strict.exited_threads_arrive = false;
  expect_fault(run_body(skip_warp, strict), FaultKind::barrier_divergence, "exited");
  // Half of each warp is elsewhere.
  const RunResult half = run_body(
      "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p, %r2, 0;\n@%p bra DONE;\nbar.sync 0;\nDONE:\n"
      "add.s32 %r2, %r2, 1;");
  expect_fault(half, FaultKind::barrier_divergence, "different paths");
  EXPECT_EQ(half.fault.thread.x % 2, 0U);
  // Warps at different barriers.
  expect_fault(run_body("setp.ge.u32 %p, %r1, 32;\n@%p bra OTHER;\nbar.sync 1;\nbra DONE;\n"
                        "OTHER: bar.sync 2;\nDONE:"),
               FaultKind::barrier_divergence, "barrier 2");
}

TEST(ChecksTest, NamedBarriersAndDeadlock) {
  EXPECT_TRUE(run_body("setp.ge.u32 %p, %r1, 32;\n@%p bra OTHER;\nbar.sync 1, 64;\nbra DONE;\n"
                       "OTHER: bar.arrive 1, 64;\nDONE:")
                  .ok());
  EXPECT_TRUE(run_body("setp.ge.u32 %p, %r1, 32;\n@%p bra DONE;\nbar.sync 1, 32;\nDONE:").ok());
  expect_fault(run_body("bar.sync 1, 96;"), FaultKind::deadlock, "96 threads");
  expect_fault(
      run_body("setp.ge.u32 %p, %r1, 32;\n@%p bra OTHER;\nbar.sync 1, 64;\nbar.sync 2, 64;\n"
               "bra DONE;\nOTHER: bar.sync 2, 64;\nbar.sync 1, 64;\nDONE:"),
      FaultKind::deadlock, "waits at barrier 1");
}

TEST(ChecksTest, BarrierReductions) {
  EXPECT_TRUE(
      run_body("setp.lt.u32 %p, %r1, 40;\nbar.red.popc.u32 %r2, 0, %p;\n"
               "setp.ne.u32 %q, %r2, 40;\n@%q trap;\n"
               "bar.red.or.pred %q, 0, %p;\n@!%q trap;\nbar.red.and.pred %q, 0, %p;\n@%q trap;")
          .ok());
}

TEST(ChecksTest, EndlessLoopsUseUpTheBudget) {
  RunOptions options;
  options.instruction_budget = 10000;
  const std::string loop =
      "mov.u32 %r2, 0;\nL: add.s32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, BOUND;\n"
      "@%p bra L;";
  const auto with_bound = [&](const std::string& bound) {
    std::string text = loop;
    return text.replace(text.find("BOUND"), 5, bound);
  };
  EXPECT_TRUE(run_body(with_bound("100"), options).ok());
  const RunResult endless = run_body(with_bound("0xffffffff"), options);
  expect_fault(endless, FaultKind::instruction_budget, "10000");
  EXPECT_GT(endless.fault.ptx_line, 0);
  // Each block fits, their sum does not: the same block is named however many threads run.
  for (int threads : {1, 2, 4}) {
    options.threads = threads;
    options.instruction_budget = 1500;  // a block takes about 620
    const RunResult sum = run_body(with_bound("100"), options);
    expect_fault(sum, FaultKind::instruction_budget, "first 3 blocks of 3");
    EXPECT_EQ(sum.fault.block, (Dim3{2, 0, 0}));
  }
}

TEST(ChecksTest, WarpsMayWaitForEachOther) {
  // The first warp spins until the second has set the flag.
  const std::string shared = ".shared .align 4 .u32 flag;\n";
  EXPECT_TRUE(
      run_body("st.shared.u32 [flag], 0;\nbar.sync 0;\nsetp.ge.u32 %p, %r1, 32;\n@%p bra SET;\n"
               "SPIN: ld.volatile.shared.u32 %r2, [flag];\nsetp.eq.u32 %q, %r2, 0;\n"
               "@%q bra SPIN;\nbra DONE;\nSET: st.shared.u32 [flag], 1;\nDONE:",
               {}, shared)
          .ok());
}

TEST(ChecksTest, TheLowestFaultyBlockIsReported) {
  const Program program =
      load_or_die(kernel("mov.u32 %r2, %ctaid.x;\nsetp.lt.u32 %p, %r2, 37;\n@%p bra DONE;\n"
                         "ld.global.f32 %f1, [%rd4+256];\nDONE:"),
                  "k");
  for (int threads : {1, 2, 8}) {
    DeviceMemory memory;
    const auto in = make_buffer(memory, "input", std::vector<float>(64), BufferAccess::read_only);
    const auto out = make_buffer(memory, "output", std::vector<float>(64));
    RunOptions options;
    options.threads = threads;
    const RunResult result = run_kernel(program, memory, {200, 1, 1}, {64, 1, 1},
                                        Parameters().add(in).add(out), options);
    expect_fault(result, FaultKind::out_of_bounds, "past the end");
    EXPECT_EQ(result.fault.block, (Dim3{37, 0, 0}));
    EXPECT_EQ(result.fault.thread, (Dim3{0, 0, 0}));
  }
}

TEST(ChecksTest, SourceLinesComeFromTheLineTable) {
  const RunResult result = run_body(".loc 1 42 3\nld.global.f32 %f1, [%rd4+4];");
  EXPECT_EQ(result.fault.source_line, 42);
  const RunResult inlined = run_body(
      ".loc 1 10 3\nmov.u32 %r2, 0;\n.loc 2 99 1, function_name $L__info_string0, inlined_at 1 12 "
      "5\n"
      "ld.global.f32 %f1, [%rd4+4];");
  EXPECT_EQ(inlined.fault.source_line, 12);
}

TEST(ChecksTest, LaunchesAreChecked) {
  EXPECT_EQ(run_body("", {}, "", 1025).fault.kind, FaultKind::bad_launch);
  const Program program = load_or_die(kernel(""), "k");
  DeviceMemory memory;
  EXPECT_EQ(run_kernel(program, memory, {1, 1, 1}, {1, 1, 1}, Parameters()).fault.kind,
            FaultKind::bad_launch);
  EXPECT_EQ(run_body("trap;").fault.kind, FaultKind::trap);
  Cancellation cancelled;
  cancelled.request();
  LaunchArguments arguments;
  arguments.parameters.resize(16);
  EXPECT_EQ(run(program, arguments, memory, {}, cancelled).fault.kind, FaultKind::cancelled);
}

}  // namespace
}  // namespace regraph::ptx::checks_test
