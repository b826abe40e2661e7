// Threads that wait for others get on, or the wait is named.
#include "ptx/ptx_test_support.h"

namespace regraph::ptx::spin_test {
namespace {

RunResult run_spin(const std::string& body, std::uint32_t blocks, std::uint32_t threads,
                   std::vector<std::uint32_t>* values = nullptr, std::uint64_t budget = 0) {
  const Program program = load_or_die(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p, %q;\n.reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" +
          body + "\nret;\n}\n",
      "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(64));
  RunOptions options;
  options.instruction_budget = budget;
  const RunResult result =
      run_kernel(program, memory, {blocks, 1, 1}, {threads, 1, 1}, Parameters().add(out), options);
  if (values != nullptr) *values = read_buffer<std::uint32_t>(memory, out);
  return result;
}

// while (atomicCAS(lock, 0, 1) != 0) {}  counter += 1;  atomicExch(lock, 0);
const std::string kLocked =
    "SPIN: atom.global.cas.b32 %r3, [%rd1], 0, 1;\nsetp.ne.u32 %p, %r3, 0;\n@%p bra SPIN;\n"
    "ld.volatile.global.u32 %r4, [%rd1+4];\nadd.s32 %r4, %r4, 1;\n"
    "st.volatile.global.u32 [%rd1+4], %r4;\nmembar.gl;\natom.global.exch.b32 %r5, [%rd1], 0;\n";

TEST(SpinTest, LanesOfAWarpMayHoldALock) {
  std::vector<std::uint32_t> values;
  const RunResult result = run_spin(kLocked, 2, 48, &values);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  EXPECT_EQ(values[1], 96U);
}

TEST(SpinTest, LanesMeetAgainAtBarriersAndExchanges) {
  std::vector<std::uint32_t> values;
  const RunResult result =
      run_spin(kLocked +
                   "shfl.sync.idx.b32 %r6, %r1, 7, 31, -1;\nsetp.ne.u32 %p, %r6, 7;\n@%p trap;\n"
                   "bar.sync 0;\nld.volatile.global.u32 %r7, [%rd1+4];\n"
                   "setp.ne.u32 %p, %r7, 32;\n@%p trap;\nvote.sync.ballot.b32 %r8, %p, -1;\n"
                   "setp.ne.u32 %q, %r8, 0;\n@%q trap;\n",
               1, 32, &values);
  ASSERT_TRUE(result.ok()) << result.fault.message << " PTX line " << result.fault.ptx_line;
  EXPECT_EQ(values[1], 32U);
}

TEST(SpinTest, OneBranchMayWaitForTheOther) {
  const std::string body =
      "setp.ne.u32 %p, %r1, 3;\n@%p bra WAIT;\nst.volatile.global.u32 [%rd1], 1;\nbra DONE;\n"
      "WAIT: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %q, %r3, 0;\n@%q bra WAIT;\nDONE:\n";
  EXPECT_TRUE(run_spin(body, 1, 32).ok());
  EXPECT_TRUE(run_spin(body, 1, 96).ok());
}

TEST(SpinTest, EarlierBlocksMayBeWaitedFor) {
  const std::string body =
      "WAIT: ld.volatile.global.u32 %r3, [%rd1];\nsetp.ne.u32 %q, %r3, %r2;\n@%q bra WAIT;\n"
      "bar.sync 0;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra DONE;\nadd.s32 %r3, %r3, 1;\n"
      "st.volatile.global.u32 [%rd1], %r3;\nDONE:\n";
  std::vector<std::uint32_t> values;
  EXPECT_TRUE(run_spin(body, 20, 64, &values).ok());
  EXPECT_EQ(values[0], 20U);
}

TEST(SpinTest, EndlessWaitsAreNamed) {
  const std::string wait =
      ".loc 1 17 1\nWAIT: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %q, %r3, 0;\n"
      "@%q bra WAIT;\n";
  const RunResult result = run_spin(wait, 2, 64);
  EXPECT_EQ(name(result.fault.kind), "deadlock") << result.fault.message;
  EXPECT_EQ(result.fault.source_line, 17);
  EXPECT_NE(result.fault.message.find("waits for ever"), std::string::npos);
  // A lock that is never given back.
  EXPECT_EQ(run_spin("SPIN: atom.global.cas.b32 %r3, [%rd1], 0, 1;\nsetp.ne.u32 %p, %r3, 0;\n"
                     "@%p bra SPIN;\n",
                     1, 64)
                .fault.kind,
            FaultKind::deadlock);
  // Counting for ever is no repetition: the budget ends it.
  EXPECT_EQ(run_spin("WAIT: atom.global.add.u32 %r3, [%rd1], 1;\nsetp.ne.u32 %q, %r3, -1;\n"
                     "@%q bra WAIT;\n",
                     1, 64, nullptr, 3000000)
                .fault.kind,
            FaultKind::instruction_budget);
}

}  // namespace
}  // namespace regraph::ptx::spin_test
