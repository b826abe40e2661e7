// Lanes that come to an exchange on different paths wait for each other.
#include "ptx/ptx_test_support.h"

#include <fmt/format.h>

namespace regraph::ptx::lane_meeting_test {
namespace {

constexpr std::uint32_t kThreads = 64;

RunResult run_lanes(const std::string& body, std::vector<std::uint32_t>* values = nullptr,
                    std::uint32_t threads = kThreads, RunOptions options = {}) {
  // %r1: the thread, %r2: its lane, %r3: what is stored at the end.
  const Program program = load_or_die(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 one)\n{\n"
      ".reg .pred %p<16>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<8>;\n.shared .align 4 .b32 s[64];\n"
      "ld.param.u64 %rd1, [out];\nld.param.u32 %r4, [one];\nmov.u32 %r1, %tid.x;\n"
      "and.b32 %r2, %r1, 31;\nmov.u32 %r3, 0;\n" +
          body +
          "\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r3;\n"
          "ret;\n}\n",
      "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(kThreads));
  options.instruction_budget = 100000;
  RunResult result = run_kernel(program, memory, {1, 1, 1}, {threads, 1, 1},
                                Parameters().add(out).add(1), options);
  if (values != nullptr) *values = read_buffer<std::uint32_t>(memory, out);
  return result;
}

// As compilers leave a loop whose trip count differs between lanes, before an exchange under a
// condition that is the same for all: lanes without a trip jump to the exchange, the others ask the
// condition first, and the paths meet behind it. Lane l makes `trips` trips and adds l in each.
std::string threaded_loop(const std::string& exchange, const std::string& trips) {
  return trips +
         "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\n"
         "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra EXCHANGE;\n"
         "setp.ne.u32 %p2, %r4, 1;\n@%p2 bra BEHIND;\n"
         "LOOP: add.u32 %r6, %r6, %r2;\nadd.u32 %r7, %r7, 1;\n"
         "setp.lt.u32 %p3, %r7, %r5;\n@%p3 bra LOOP;\n"
         "EXCHANGE: setp.ne.u32 %p2, %r4, 1;\n@%p2 bra BEHIND;\n" +
         exchange + "\nBEHIND:\n";
}

const std::string kOddTrips = "and.b32 %r5, %r2, 3;\n";

std::uint32_t sum_of_trips() {
  std::uint32_t sum = 0;
  for (std::uint32_t l = 0; l < 32; ++l)
    sum += l * (l & 3U);
  return sum;
}

std::string butterfly(const std::string& reg) {
  std::string code;
  for (int offset = 16; offset > 0; offset /= 2) {
    code += fmt::format("shfl.sync.bfly.b32 %r8, {0}, {1}, 31, -1;\nadd.u32 {0}, {0}, %r8;\n", reg,
                        offset);
  }
  return code;
}

void expect_all(const std::vector<std::uint32_t>& values, std::uint32_t wanted) {
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], wanted) << "thread " << i;
}

void expect_ok(const RunResult& result) {
  EXPECT_TRUE(result.ok()) << result.fault.message << ", PTX line " << result.fault.ptx_line;
}

TEST(LaneMeetingTest, LanesThatLeftALoopEarlyAreWaitedFor) {
  std::vector<std::uint32_t> values;
  const RunResult result =
      run_lanes(threaded_loop(butterfly("%r6") + "mov.u32 %r3, %r6;", kOddTrips), &values);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  expect_all(values, sum_of_trips());
}

TEST(LaneMeetingTest, AllKindsOfExchange) {
  std::vector<std::uint32_t> values;
  const auto value_of = [&](const std::string& exchange) {
    const RunResult result = run_lanes(threaded_loop(exchange, kOddTrips), &values);
    EXPECT_TRUE(result.ok()) << exchange << ": " << result.fault.message;
    return values[0];
  };
  EXPECT_EQ(value_of("redux.sync.add.u32 %r3, %r6, -1;"), sum_of_trips());
  EXPECT_EQ(value_of("setp.ge.u32 %p4, %r5, 2;\nvote.sync.ballot.b32 %r3, %p4, -1;"), 0xccccccccU);
  EXPECT_EQ(value_of("setp.le.u32 %p4, %r5, 2;\nvote.sync.all.pred %p5, %p4, -1;\n"
                     "selp.u32 %r3, 1, 2, %p5;"),
            2U);
  EXPECT_EQ(value_of("setp.eq.u32 %p4, %r2, 31;\nvote.sync.any.pred %p5, %p4, -1;\n"
                     "selp.u32 %r3, 1, 2, %p5;"),
            1U);
  EXPECT_EQ(value_of("match.any.sync.b32 %r3, %r5, -1;"), 0x11111111U);
  EXPECT_EQ(value_of("match.all.sync.b32 %r3, %r5, -1;"), 0U);
  EXPECT_EQ(value_of("elect.sync %r3|%p4, -1;"), 0U);
  // What lane 31 wrote, once all lanes are there.
  EXPECT_EQ(value_of("st.shared.u32 [s], %r2;\nbar.warp.sync -1;\nsetp.ne.u32 %p4, %r2, 31;\n"
                     "@%p4 bra READ;\nst.shared.u32 [s+4], %r6;\nREAD:\nbar.warp.sync -1;\n"
                     "ld.shared.u32 %r3, [s+4];"),
            93U);
  // Barriers of the block, and products of matrices, wait likewise.
  EXPECT_EQ(value_of("bar.sync 0;\nmov.u32 %r3, 5;"), 5U);
}

// Masks in a register, and masks that leave lanes out.
TEST(LaneMeetingTest, OnlyLanesThatAreNamedAreWaitedFor) {
  std::vector<std::uint32_t> values;
  // Tiles of eight lanes: lanes of a tile make the same trips or not.
  for (const char* trips :
       {"shr.u32 %r5, %r2, 3;\n", "and.b32 %r5, %r2, 3;\n", "mov.u32 %r5, %r2;\n"}) {
    const RunResult result = run_lanes(
        threaded_loop("and.b32 %r9, %r2, 24;\nmov.u32 %r10, 255;\nshl.b32 %r10, %r10, %r9;\n"
                      "redux.sync.add.u32 %r3, %r2, %r10;\n",
                      trips),
        &values);
    ASSERT_TRUE(result.ok()) << result.fault.message;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const std::uint32_t first = i % 32 / 8 * 8;
      EXPECT_EQ(values[i], 8 * first + 28) << trips << i;
    }
  }
  // Lanes that come together and name different masks.
  ASSERT_TRUE(run_lanes("and.b32 %r9, %r2, 16;\nmov.u32 %r10, 0xffff;\nshl.b32 %r10, %r10, %r9;\n"
                        "setp.ne.u32 %p1, %r2, 3;\nvote.sync.ballot.b32 %r3, %p1, %r10;",
                        &values)
                  .ok());
  EXPECT_EQ(values[0], 0xfff7U);
  EXPECT_EQ(values[20], 0xffff0000U);
  // Half of a warp exchanges while the other half goes another way.
  ASSERT_TRUE(run_lanes("setp.lt.u32 %p1, %r2, 16;\n@%p1 bra LOW;\n"
                        "redux.sync.add.u32 %r3, %r2, 0xffff0000;\nbra DONE;\n"
                        "LOW: redux.sync.add.u32 %r3, %r2, 0xffff;\nDONE:",
                        &values)
                  .ok());
  EXPECT_EQ(values[0], 120U);
  EXPECT_EQ(values[16], 376U);
}

// Of one branch inside another, lanes of both come to the exchange.
TEST(LaneMeetingTest, PathsOfNestedBranchesMeet) {
  std::vector<std::uint32_t> values;
  const RunResult result = run_lanes(
      "setp.lt.u32 %p1, %r2, 8;\n@%p1 bra EXCHANGE;\n"
      "setp.ne.u32 %p9, %r4, 1;\n@%p9 bra BEHIND;\n"
      "setp.lt.u32 %p2, %r2, 20;\n@%p2 bra INNER;\n"
      "add.u32 %r3, %r3, 7;\nsetp.lt.u32 %p3, %r2, 25;\n@%p3 bra EXCHANGE;\n"
      "add.u32 %r3, %r3, 1;\nINNER: add.u32 %r3, %r3, 0;\n@%p9 bra BEHIND;\n"
      "EXCHANGE: redux.sync.add.u32 %r3, %r2, -1;\nBEHIND:",
      &values);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  expect_all(values, 496);
}

TEST(LaneMeetingTest, LanesThatExitedAreNotWaitedFor) {
  std::vector<std::uint32_t> values;
  ASSERT_TRUE(
      run_lanes("setp.ge.u32 %p1, %r2, 20;\n@%p1 ret;\nredux.sync.add.u32 %r3, %r2, -1;", &values)
          .ok());
  EXPECT_EQ(values[3], 190U);
  EXPECT_EQ(values[25], 0U);
  // They leave while others wait.
  ASSERT_TRUE(run_lanes("setp.lt.u32 %p1, %r2, 20;\n@%p1 bra EXCHANGE;\n"
                        "setp.eq.u32 %p2, %r4, 1;\n@%p2 ret;\n"
                        "EXCHANGE: redux.sync.add.u32 %r3, %r2, -1;",
                        &values)
                  .ok());
  EXPECT_EQ(values[3], 190U);
  // Warps of fewer lanes.
  ASSERT_TRUE(
      run_lanes(threaded_loop("redux.sync.add.u32 %r3, %r2, -1;", kOddTrips), &values, 40).ok());
  EXPECT_EQ(values[0], 496U);
  EXPECT_EQ(values[35], 28U);
}

// Code that names lanes which take no part: those that are there exchange among themselves.
TEST(LaneMeetingTest, LanesThatNeverComeAreNotWaitedForForEver) {
  std::vector<std::uint32_t> values;
  expect_ok(
      run_lanes("setp.ge.u32 %p1, %r2, 8;\n@%p1 bra DONE;\n"
                "redux.sync.add.u32 %r3, %r2, -1;\nDONE: bar.sync 0;",
                &values));
  EXPECT_EQ(values[7], 28U);
  EXPECT_EQ(values[8], 0U);
  // Each half at an exchange of its own.
  expect_ok(
      run_lanes("setp.ge.u32 %p1, %r2, 8;\n@%p1 bra OTHER;\n"
                "redux.sync.add.u32 %r3, %r2, -1;\nbra DONE;\n"
                "OTHER: redux.sync.max.u32 %r3, %r2, -1;\nDONE: bar.sync 0;",
                &values));
  EXPECT_EQ(values[7], 28U);
  EXPECT_EQ(values[8], 31U);
  // In a loop, again and again, and under a guard.
  expect_ok(
      run_lanes("mov.u32 %r7, 0;\nLOOP: setp.ge.u32 %p1, %r2, 8;\n@%p1 bra DONE;\n"
                "redux.sync.add.u32 %r9, %r2, -1;\nadd.u32 %r3, %r3, %r9;\nDONE:\n"
                "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 10;\n@%p2 bra LOOP;\n"
                "@!%p1 redux.sync.add.u32 %r9, %r2, -1;",
                &values));
  EXPECT_EQ(values[7], 280U);
}

TEST(LaneMeetingTest, WaitsAcrossABarrierAreADeadlock) {
  const auto run = [](const std::string& asks) {
    return run_lanes(asks +
                     ".u32 %p1, %r2, 8;\n@%p1 bra OTHER;\n.loc 1 17 1\n"
                     "bar.sync 0;\nbra DONE;\nOTHER:\n.loc 1 19 1\n"
                     "redux.sync.add.u32 %r3, %r2, -1;\nDONE: add.u32 %r3, %r3, 1;");
  };
  const RunResult result = run("setp.ge");
  EXPECT_EQ(name(result.fault.kind), "barrier_divergence") << result.fault.message;
  EXPECT_NE(result.fault.message.find("an exchange between lanes"), std::string::npos)
      << result.fault.message;
  EXPECT_EQ(result.fault.source_line, 17);
  EXPECT_LT(result.fault.thread.x % 32, 8U);
  EXPECT_EQ(run("setp.lt").fault.kind, FaultKind::barrier_divergence);
  // Two barriers of one warp are none.
  EXPECT_EQ(run_lanes("setp.ge.u32 %p1, %r2, 8;\n@%p1 bra OTHER;\nbar.sync 0;\nbra DONE;\n"
                      "OTHER: bar.sync 0;\nDONE: add.u32 %r3, %r3, 1;")
                .fault.kind,
            FaultKind::barrier_divergence);
}

// What lanes wrote before they met is ordered, what they write while others wait is not.
TEST(LaneMeetingTest, RacesAreSeenWhereLanesMeet) {
  RunOptions options;
  options.detect_races = true;
  const std::string sync =
      "mul.lo.u32 %r9, %r1, 4;\nmov.u32 %r10, s;\nadd.u32 %r10, %r10, %r9;\n"
      "st.shared.u32 [%r10], %r2;\nbar.warp.sync -1;\nxor.b32 %r9, %r9, 4;\nmov.u32 %r10, s;\n"
      "add.u32 %r10, %r10, %r9;\nld.shared.u32 %r3, [%r10];";
  std::vector<std::uint32_t> values;
  const RunResult met = run_lanes(threaded_loop(sync, kOddTrips), &values, kThreads, options);
  ASSERT_TRUE(met.ok()) << met.fault.message;
  EXPECT_EQ(values[4], 5U);
  std::string apart = sync;
  apart.replace(apart.find("bar.warp.sync -1;"), 17, "");
  EXPECT_EQ(run_lanes(threaded_loop(apart, kOddTrips), nullptr, kThreads, options).fault.kind,
            FaultKind::data_race);
}

// Every lane counts to a random number in a random nest of branches, then all add up: hundreds of
// ways to come to one exchange, each of which ends as if lanes had run in step.
TEST(LaneMeetingTest, WaysThereDoNotMatter) {
  for (std::uint64_t round = 0; round < 150; ++round) {
    std::string body;
    auto random = [&, n = std::uint64_t{0}](std::uint64_t below) mutable {
      return random_bits(round + 100, n++) % below;
    };
    const std::size_t branches = 1 + random(6);
    std::vector<std::string> at_end;
    for (std::size_t b = 0; b < branches; ++b) {
      // Lanes with a bit of a random mask leave: to the exchange, or to a later branch.
      body += fmt::format(
          "B{}: mov.u32 %r20, {};\nshr.u32 %r20, %r20, %r2;\nand.b32 %r20, %r20, 1;\n"
          "setp.eq.u32 %p1, %r20, 1;\n",
          b, random_bits(round, b) & 0xffffffffU);
      const std::size_t to = b + 1 + random(branches - b + 1);
      body += to >= branches ? "@%p1 bra EXCHANGE;\n" : fmt::format("@%p1 bra B{};\n", to);
      if (random(2) == 0) body += "setp.ne.u32 %p2, %r4, 1;\n@%p2 bra BEHIND;\n";
      if (random(2) == 0) {
        body += fmt::format(
            "mov.u32 %r7, 0;\nand.b32 %r5, %r2, {};\nL{}: add.u32 %r7, %r7, 1;\n"
            "setp.lt.u32 %p3, %r7, %r5;\n@%p3 bra L{};\n",
            random(8), b, b);
      }
    }
    body += "EXCHANGE: setp.ne.u32 %p2, %r4, 1;\n@%p2 bra BEHIND;\nmov.u32 %r6, %r2;\n";
    if (random(2) == 0) {
      body += butterfly("%r6") + "mov.u32 %r3, %r6;\n";
    } else {
      body +=
          "and.b32 %r9, %r2, 16;\nmov.u32 %r10, 0xffff;\nshl.b32 %r10, %r10, %r9;\n"
          "redux.sync.add.u32 %r6, %r2, %r10;\nshfl.sync.bfly.b32 %r8, %r6, 16, 31, -1;\n"
          "add.u32 %r3, %r6, %r8;\n";
    }
    if (random(2) == 0) body += "bar.sync 0;\n";
    body += "BEHIND:";
    std::vector<std::uint32_t> values;
    RunOptions options;
    options.detect_races = random(3) == 0;
    const RunResult result = run_lanes(body, &values, kThreads, options);
    ASSERT_TRUE(result.ok()) << result.fault.message << "\n" << body;
    for (const std::uint32_t value : values)
      ASSERT_EQ(value, 496U) << "round " << round << "\n" << body;
  }
}

// Random exchanges on random paths, most of them wrong: every run ends.
TEST(LaneMeetingTest, WhateverLanesNameRunsEnd) {
  for (std::uint64_t round = 0; round < 150; ++round) {
    auto random = [&, n = std::uint64_t{0}](std::uint64_t below) mutable {
      return random_bits(round + 1000, n++) % below;
    };
    std::string body = "mov.u32 %r7, 0;\n";
    const std::size_t places = 3 + random(8);
    for (std::size_t b = 0; b < places; ++b) {
      body += fmt::format(
          "B{}: add.u32 %r7, %r7, 1;\nmov.u32 %r20, {};\nshr.u32 %r20, %r20, %r2;\n"
          "and.b32 %r20, %r20, 1;\nsetp.eq.u32 %p1, %r20, 1;\n"
          "setp.gt.u32 %p2, %r7, 20;\n@%p2 ret;\n",
          b, random_bits(round + 7, b) & 0xffffffffU);
      switch (random(7)) {
        case 0:
          body += "redux.sync.add.u32 %r3, %r2, -1;\n";
          break;
        case 1:
          body += fmt::format("shfl.sync.idx.b32 %r3, %r2, %r7, 31, {};\n",
                              random_bits(round, b) & 0xffffffffU);
          break;
        case 2:
          body += "vote.sync.ballot.b32 %r3, %p1, %r20;\n";
          break;
        case 3:
          body += "@%p1 bar.warp.sync 0xff00ff;\n";
          break;
        case 4:
          body += random(3) == 0 ? "bar.sync 0;\n" : "";
          break;
        default:
          break;
      }
      body += fmt::format("@%p1 bra B{};\n", random(places));
    }
    const RunResult result = run_lanes(body);
    EXPECT_TRUE(result.ok() || result.fault.kind == FaultKind::barrier_divergence ||
                result.fault.kind == FaultKind::deadlock)
        << name(result.fault.kind) << ": " << result.fault.message << "\n"
        << body;
  }
}

}  // namespace
}  // namespace regraph::ptx::lane_meeting_test
