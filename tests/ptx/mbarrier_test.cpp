// mbarriers, bulk copies and what the race detector makes of them.
#include "ptx/address_log.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/ptx_test_support.h"

#include <numeric>

namespace regraph::ptx::mbarrier_test {
namespace {

std::string kernel(const std::string& body) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         "  .shared .align 128 .b8 tile[4096];\n  .shared .align 8 .b64 bar[4];\n"
         "  .reg .pred %p, %q, %first;\n  .reg .b32 %r<20>, %t, %tile, %bar, %i;\n"
         "  .reg .b64 %rd<8>, %in, %out, %mine, %state;\n"
         "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %t, %tid.x;\n"
         "  mov.u32 %tile, tile;\n  mov.u32 %bar, bar;\n  setp.eq.u32 %first, %t, 0;\n"
         "  mul.wide.u32 %rd1, %t, 4;\n  add.s64 %mine, %out, %rd1;\n  shl.b32 %r1, %t, 2;\n"
         "  add.u32 %r1, %r1, %tile;\n" +
         body + "\n  ret;\n}\n";
}

struct Outcome {
  RunResult result;
  std::vector<std::uint32_t> out;
};

constexpr std::size_t kWords = 4096;

Outcome run_body(const std::string& body, std::uint32_t threads = 128,
                 const RunOptions& options = {}, std::size_t words = kWords) {
  const Program program = load_or_die(kernel(body), "k");
  DeviceMemory memory;
  std::vector<std::uint32_t> values(words);
  std::iota(values.begin(), values.end(), 1000U);
  const auto in = make_buffer(memory, "in", values);
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(words));
  Outcome run;
  run.result = run_kernel(program, memory, {1, 1, 1}, {threads, 1, 1},
                          Parameters().add(in).add(out), options);
  run.out = read_buffer<std::uint32_t>(memory, out);
  return run;
}

RunOptions watched() {
  RunOptions options;
  options.detect_races = true;
  return options;
}

std::string init(const std::string& offset, const std::string& count) {
  return "  @%first mbarrier.init.shared::cta.b64 [%bar+" + offset + "], " + count + ";\n";
}
const std::string kBarrier = "  fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n";

std::string spin(const std::string& label, const std::string& test) {
  return label + ":\n  " + test + ";\n  @!%p bra " + label + ";\n";
}

// Every thread writes a word, arrives, waits by the state it got, and reads another warp's word.
TEST(MbarrierTest, OrdersThreadsByStates) {
  const std::string store = init("0", "128") + kBarrier + "  st.shared.b32 [%r1], %t;\n";
  const std::string arrive = "  mbarrier.arrive.shared::cta.b64 %state, [%bar];\n";
  const std::string load =
      "  xor.b32 %r2, %r1, 256;\n  ld.shared.b32 %r3, [%r2];\n  st.global.b32 [%mine], %r3;\n";
  const auto kernel_with = [&](std::string wait) {
    return wait.insert(0, arrive).insert(0, store).append(load);
  };
  for (const char* test : {"mbarrier.test_wait.shared::cta.b64 %p, [%bar], %state",
                           "mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [%bar], %state, 999",
                           "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0"}) {
    for (const bool races : {false, true}) {
      const Outcome run =
          run_body(kernel_with(spin("$wait", test)), 128, races ? watched() : RunOptions());
      ASSERT_TRUE(run.result.ok()) << test << run.result.fault.message;
      for (std::uint32_t t = 0; t < 128; ++t)
        ASSERT_EQ(run.out[t], t ^ 64U);
    }
  }
  // Nobody waits, or waits for the phase before, or without acquiring.
  for (const std::string& wait :
       {std::string(), spin("$wait", "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 1"),
        spin("$wait", "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p, [%bar], 0")}) {
    const Outcome run = run_body(kernel_with(wait), 128, watched());
    EXPECT_EQ(run.result.fault.kind, FaultKind::data_race) << wait << run.result.fault.message;
  }
  // Used before a barrier says that it is there.
  const Outcome early = run_body(init("0", "128") + arrive, 128, watched());
  EXPECT_FALSE(early.result.ok());
}

// One phase after another: thread 0 of each warp arrives for 4 rounds; parities alternate.
TEST(MbarrierTest, PhasesAlternate) {
  const std::string body =
      init("0", "4") + kBarrier +
      "  mov.u32 %i, 0;\n  and.b32 %r4, %t, 31;\n  setp.eq.u32 %q, %r4, 0;\n  mov.u32 %r6, 0;\n"
      "$next:\n  and.b32 %r5, %i, 1;\n  st.shared.b32 [%r1], %i;\n  bar.warp.sync -1;\n"
      "  @%q mbarrier.arrive.shared.b64 _, [%bar];\n" +
      spin("$wait", "mbarrier.try_wait.parity.shared.b64 %p, [%bar], %r5") +
      "  xor.b32 %r2, %r1, 128;\n  ld.shared.b32 %r3, [%r2];\n  add.u32 %r6, %r6, %r3;\n"
      "  bar.sync 0;\n  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, 7;\n  @%p bra $next;\n"
      "  st.global.b32 [%mine], %r6;\n";
  const Outcome run = run_body(body, 128, watched());
  ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
  for (std::uint32_t t = 0; t < 128; ++t)
    EXPECT_EQ(run.out[t], 21U);
}

// A producer warp copies tiles of 1 KiB into two buffers, three warps add them up.
std::string pipeline(bool waits_full, bool waits_empty) {
  std::string text =
      init("0", "1") + init("8", "1") + init("16", "3") + init("24", "3") + kBarrier +
      "  mov.u32 %i, 0;\n  mov.u32 %r10, 0;\n  setp.ge.u32 %q, %t, 32;\n  @%q bra $consume;\n"
      "  @!%first bra $end;\n"
      "$produce:\n  and.b32 %r6, %i, 1;\n  shl.b32 %r7, %r6, 3;\n  add.u32 %r8, %bar, %r7;\n"
      "  shr.u32 %r9, %i, 1;\n  and.b32 %r9, %r9, 1;\n  xor.b32 %r9, %r9, 1;\n" +
      (waits_empty ? spin("$empty", "mbarrier.try_wait.parity.shared::cta.b64 %p, [%r8+16], %r9")
                   : std::string()) +
      "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;\n"
      "  shl.b32 %r7, %r6, 10;\n  add.u32 %r7, %r7, %tile;\n  mul.wide.u32 %rd2, %i, 1024;\n"
      "  add.s64 %rd2, %in, %rd2;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd2], 1024, "
      "[%r8];\n"
      "  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, 8;\n  @%p bra $produce;\n  bra $end;\n"
      "$consume:\n  and.b32 %r6, %i, 1;\n  shl.b32 %r7, %r6, 3;\n  add.u32 %r8, %bar, %r7;\n"
      "  shr.u32 %r9, %i, 1;\n  and.b32 %r9, %r9, 1;\n" +
      (waits_full ? spin("$full", "mbarrier.try_wait.parity.shared::cta.b64 %p, [%r8], %r9")
                  : std::string()) +
      "  shl.b32 %r7, %r6, 10;\n  add.u32 %r7, %r7, %r1;\n  ld.shared.b32 %r11, [%r7];\n"
      "  add.u32 %r10, %r10, %r11;\n  bar.warp.sync -1;\n  and.b32 %r11, %t, 31;\n"
      "  setp.eq.u32 %p, %r11, 0;\n  @%p mbarrier.arrive.shared::cta.b64 _, [%r8+16];\n"
      "  add.u32 %i, %i, 1;\n  setp.lt.u32 %p, %i, 8;\n  @%p bra $consume;\n"
      "  st.global.b32 [%mine], %r10;\n$end:\n";
  return text;
}

TEST(MbarrierTest, BulkCopiesFeedConsumers) {
  for (const bool races : {false, true}) {
    const Outcome run = run_body(pipeline(true, true), 128, races ? watched() : RunOptions());
    ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
    EXPECT_FALSE(run.result.uninitialised_read.has_value());
    for (std::uint32_t t = 32; t < 128; ++t)
      EXPECT_EQ(run.out[t], 8 * (1000 + t) + 256 * 28) << t;
  }
}

TEST(MbarrierTest, BulkCopiesCanRace) {
  EXPECT_EQ(run_body(pipeline(false, true), 128, watched()).result.fault.kind,
            FaultKind::data_race);
  EXPECT_EQ(run_body(pipeline(true, false), 128, watched()).result.fault.kind,
            FaultKind::data_race);
  // The copy is asked for by this thread, and is not done for it either.
  const std::string copy = init("0", "1") + kBarrier + "  @!%first bra $end;\n" +
                           "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64;\n"
                           "  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                           "[%tile], [%in], 64, [%bar];\n";
  const std::string load = "  ld.shared.b32 %r3, [%tile];\n  st.global.b32 [%mine], %r3;\n$end:\n";
  EXPECT_EQ(run_body(copy + load, 128, watched()).result.fault.kind, FaultKind::data_race);
  const Outcome run =
      run_body(copy + spin("$wait", "mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0") + load,
               128, watched());
  EXPECT_TRUE(run.result.ok()) << run.result.fault.message;
  EXPECT_EQ(run.out[0], 1000U);
}

TEST(MbarrierTest, BulkStoresAreAwaited) {
  const auto body = [](const std::string& wait) {
    return "  st.shared.b32 [%r1], %t;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
           "  @!%first bra $end;\n"
           "  cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], 512;\n"
           "  cp.async.bulk.commit_group;\n" +
           wait + "  st.shared.b32 [%tile], 7777;\n$end:\n";
  };
  for (const char* wait :
       {"  cp.async.bulk.wait_group 0;\n", "  cp.async.bulk.wait_group.read 0;\n"}) {
    const Outcome run = run_body(body(wait), 128, watched());
    ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
    for (std::uint32_t t = 0; t < 128; ++t)
      EXPECT_EQ(run.out[t], t);
  }
  for (const char* wait : {"", "  cp.async.bulk.wait_group 1;\n"})
    EXPECT_EQ(run_body(body(wait), 128, watched()).result.fault.kind, FaultKind::data_race);
  AddressLog writes;
  RunOptions options;
  options.writes = &writes;
  ASSERT_TRUE(run_body(body("  cp.async.bulk.wait_group 0;\n"), 128, options).result.ok());
  ASSERT_EQ(writes.ranges.size(), 1U);
  EXPECT_EQ(writes.ranges[0].end - writes.ranges[0].begin, 512U);
}

TEST(MbarrierTest, BulkCopiesAreCountedAndLogged) {
  AddressLog reads;
  RunOptions options;
  options.reads = &reads;
  for (RunOptions* asked : {static_cast<RunOptions*>(nullptr), &options}) {
    const Outcome run =
        run_body(pipeline(true, true), 128, asked == nullptr ? RunOptions() : *asked);
    ASSERT_TRUE(run.result.ok());
    for (const InstructionProfile& p : run.result.profile.instructions) {
      if (p.access_bytes != 16 || p.instruction_class != InstructionClass::load_global) continue;
      EXPECT_EQ(p.requests, 16U);
      EXPECT_EQ(p.sectors, 256U);
    }
  }
  std::uint64_t bytes = 0;
  for (const AddressLog::Range& range : reads.ranges)
    bytes += range.end - range.begin;
  EXPECT_EQ(bytes, 8192U);
}

// Its addresses need its mbarriers: the slice runs them, and finds the traffic.
TEST(MbarrierTest, CachesSeeBulkCopies) {
  const Program program = load_or_die(kernel(pipeline(true, true)), "k");
  DeviceMemory memory;
  const auto in = make_buffer(memory, "in", std::vector<std::uint32_t>(kWords));
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(kWords));
  LaunchArguments arguments;
  arguments.grid = {1, 1, 1};
  arguments.block = {128, 1, 1};
  arguments.parameters = Parameters().add(in).add(out).bytes();
  CacheGeometry geometry;
  geometry.l1_bytes = 64 << 10;
  geometry.l2_bytes = 1 << 20;
  const auto result = simulate_caches(program, arguments, memory, geometry, {}, Cancellation());
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_DOUBLE_EQ(result->dram_read_bytes, 8192.0);
}

// cp.async that an mbarrier hears of.
TEST(MbarrierTest, CopiesArrive) {
  for (const bool noinc : {false, true}) {
    const std::string body =
        init("0", noinc ? "128" : "256") + kBarrier +
        "  add.s64 %rd2, %in, %rd1;\n  cp.async.ca.shared.global [%r1], [%rd2], 4;\n"
        "  cp.async.mbarrier.arrive" +
        (noinc ? ".noinc" : "") + ".shared::cta.b64 [%bar];\n" +
        (noinc ? "" : "  mbarrier.arrive.shared.b64 _, [%bar], 2;\n") +
        spin("$wait", "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0") +
        "  xor.b32 %r2, %r1, 256;\n  ld.shared.b32 %r3, [%r2];\n  st.global.b32 [%mine], %r3;\n";
    const Outcome run = run_body(body, 128, watched());
    ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
    for (std::uint32_t t = 0; t < 128; ++t)
      EXPECT_EQ(run.out[t], 1000 + (t ^ 64U));
  }
}

// A lane waits for one of its own warp, which comes later.
TEST(MbarrierTest, LanesOfAWarpWaitForEachOther) {
  const std::string body = init("0", "31") + kBarrier + "  @!%first bra $arrive;\n" +
                           spin("$wait", "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0") +
                           "  st.global.b32 [%mine], 5;\n  bra $end;\n$arrive:\n"
                           "  mbarrier.arrive.shared::cta.b64 _, [%bar];\n$end:\n";
  const Outcome run = run_body(body, 32);
  ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
  EXPECT_EQ(run.out[0], 5U);
}

TEST(MbarrierTest, CountsWhatIsPending) {
  const std::string body =
      init("0", "4") + kBarrier +
      "  @!%first bra $end;\n  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;\n"
      "  mbarrier.pending_count.b64 %r3, %state;\n  st.global.b32 [%out], %r3;\n"
      "  mbarrier.arrive_drop.shared.b64 %state, [%bar];\n"
      "  mbarrier.pending_count.b64 %r3, %state;\n  st.global.b32 [%out+4], %r3;\n"
      "  mbarrier.arrive.shared.b64 %state, [%bar], 2;\n"
      "  mbarrier.arrive.shared.b64 %state, [%bar];\n"
      "  mbarrier.pending_count.b64 %r3, %state;\n  st.global.b32 [%out+8], %r3;\n"
      "  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n"
      "  mbarrier.arrive.shared.b64 _, [%bar], 2;\n"
      "  mbarrier.test_wait.parity.shared.b64 %p, [%bar], 1;\n  selp.b32 %r3, 1, 0, %p;\n"
      "  st.global.b32 [%out+12], %r3;\n"
      "  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n"
      "  mbarrier.test_wait.parity.shared.b64 %p, [%bar], 1;\n  selp.b32 %r3, 1, 0, %p;\n"
      "  st.global.b32 [%out+16], %r3;\n  mbarrier.inval.shared.b64 [%bar];\n$end:\n";
  const Outcome run = run_body(body, 32);
  ASSERT_TRUE(run.result.ok()) << run.result.fault.message;
  const std::vector<std::uint32_t> expected = {4, 3, 3, 0, 1};
  EXPECT_EQ(std::vector<std::uint32_t>(run.out.begin(), run.out.begin() + 5), expected);
}

TEST(MbarrierTest, FaultsSayWhatIsWrong) {
  const auto expect_fault = [](const std::string& body, FaultKind kind, const std::string& words) {
    const Outcome run = run_body(body, 32);
    EXPECT_EQ(name(run.result.fault.kind), name(kind)) << body << run.result.fault.message;
    EXPECT_NE(run.result.fault.message.find(words), std::string::npos) << run.result.fault.message;
  };
  const std::string copy =
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], ";
  const std::string one = init("0", "1") + kBarrier;
  expect_fault("  mbarrier.arrive.shared.b64 _, [%bar];", FaultKind::trap, "no mbarrier");
  expect_fault(one + "  mbarrier.inval.shared.b64 [%bar];\n  mbarrier.arrive.shared.b64 _, [%bar];",
               FaultKind::trap, "no mbarrier");
  expect_fault(one + "  mbarrier.arrive.shared.b64 _, [%bar], 2;", FaultKind::trap, "more threads");
  expect_fault(init("0", "0"), FaultKind::trap, "an mbarrier of 0 arrivals");
  expect_fault(init("4", "1"), FaultKind::misaligned, "multiple of 8");
  expect_fault(init("32", "1"), FaultKind::out_of_bounds, "past the end of 'bar'");
  expect_fault(one + spin("$wait", "mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0"),
               FaultKind::deadlock, "waits for ever");
  expect_fault(one + copy + "[%in], 24, [%bar];", FaultKind::misaligned, "no multiple of 16");
  expect_fault(one + copy + "[%in+8], 32, [%bar];", FaultKind::misaligned, "multiple of 16");
  expect_fault(one + copy + "[%in], 4112, [%bar];", FaultKind::out_of_bounds,
               "past the end of 'tile'");
  expect_fault(one + copy + "[%in+16384], 32, [%bar];", FaultKind::out_of_bounds,
               "0 bytes past the end of 'in'");
}

TEST(MbarrierTest, SaysWhatItCannotDo) {
  for (const char* body :
       {("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%tile], [%tile], "
         "16, [%bar];"),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%tile], [%in], 16, [%bar], 1;"),
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%tile], 16, 1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%tile], 16;",
        "barrier.cluster.arrive;", "barrier.cluster.wait;",
        "barrier.cluster.arrive;  bar.sync 0;  barrier.cluster.wait;",
        "ld.shared::cluster.b32 %r1, [%tile];", "mapa.shared::cluster.u32 %r1, %r2, 0;"}) {
    const auto program = Program::load(kernel(body), "k");
    ASSERT_FALSE(program.ok()) << body;
    EXPECT_EQ(program.error().code, ErrorCode::unsupported) << program.error().message;
  }
}

}  // namespace
}  // namespace regraph::ptx::mbarrier_test
