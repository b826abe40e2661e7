// Planted races are found and named, their clean twins pass.
#include "ptx/ptx_test_support.h"

namespace regraph::ptx::race_test {
namespace {

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".shared .align 16 .b8 tile[1024];\n.shared .align 4 .u32 flag;\n"
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p, %q;\n.reg .b32 %r<20>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\n"
         "shl.b32 %r3, %r1, 2;\nadd.s32 %r3, %r2, %r3;\nxor.b32 %r4, %r1, 1;\nshl.b32 %r4, %r4, "
         "2;\n"
         "add.s32 %r4, %r2, %r4;\nxor.b32 %r5, %r1, 32;\nshl.b32 %r5, %r5, 2;\n"
         "add.s32 %r5, %r2, %r5;\nmov.u32 %r6, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
         "add.s64 %rd3, %rd1, %rd2;\nmov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r6, %r7, %r1;\n"
         "mul.wide.u32 %rd4, %r8, 4;\nadd.s64 %rd4, %rd1, %rd4;\n" +
         body + "\nret;\n}\n";
}

RunResult run_body(const std::string& body, std::uint32_t blocks = 1, std::uint32_t threads = 64) {
  const Program program = load_or_die(kernel(body), "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(256));
  RunOptions options;
  options.detect_races = true;
  return run_kernel(program, memory, {blocks, 1, 1}, {threads, 1, 1}, Parameters().add(out),
                    options);
}

void expect_race(const std::string& body, const std::string& words, std::uint32_t blocks = 1) {
  const RunResult result = run_body(body, blocks);
  EXPECT_EQ(name(result.fault.kind), "data_race") << body << result.fault.message;
  EXPECT_NE(result.fault.message.find(words), std::string::npos) << result.fault.message;
}
void expect_clean(const std::string& body, std::uint32_t blocks = 1) {
  const RunResult result = run_body(body, blocks);
  EXPECT_TRUE(result.ok()) << body << result.fault.message;
  EXPECT_FALSE(result.uninitialised_read.has_value()) << body << result.uninitialised_read->message;
}

const std::string kStore = "st.shared.u32 [%r3], %r1;\n";
const std::string kLoadOtherWarp = "ld.shared.u32 %r9, [%r5];\n";
const std::string kLoadNeighbour = "ld.shared.u32 %r9, [%r4];\n";
const std::string kBarrier = "bar.sync 0;\n";

// However the read is ordered after the write.
TEST(RaceTest, ReadOnlyLoadsSeeNothingThatTheLaunchWrites) {
  const std::string other =
      "xor.b32 %r11, %r1, 32;\nmul.wide.u32 %rd5, %r11, 4;\n"
      "add.s64 %rd5, %rd1, %rd5;\n";
  const std::string store = "add.s32 %r10, %r1, 9;\nst.global.u32 [%rd3], %r10;\n";
  expect_clean(other + store + kBarrier + "ld.global.u32 %r9, [%rd5];\n");
  expect_race(other + store + kBarrier + "ld.global.nc.u32 %r9, [%rd5];\n",
              "ld.global.nc is for memory that the launch never writes");
  expect_race(store + "ld.global.nc.u32 %r9, [%rd3];\n", "never writes");
  expect_clean(other + "ld.global.nc.u32 %r9, [%rd5];\n" + kBarrier + store);
}

TEST(RaceTest, BarriersOrderWarps) {
  expect_clean(kStore + kBarrier + kLoadOtherWarp);
  const RunResult race = run_body(".loc 1 7 1\n" + kStore + ".loc 1 9 1\n" + kLoadOtherWarp);
  // The first warp reads what nobody has written yet; the second writes it.
  EXPECT_EQ(
      race.fault.message,
      "a data race: thread (32, 0, 0) at line 7 writes byte 128 of 'tile' (shared), which thread "
      "(0, 0, 0) at line 9 read; no barrier stands between them");
  EXPECT_EQ(race.fault.source_line, 7);
  // Read before the next round's write, and the other way round.
  expect_race(
      kStore + kBarrier + kLoadOtherWarp + "add.s32 %r10, %r1, 9;\nst.shared.u32 [%r3], %r10;",
      "'tile'");
  expect_clean(kStore + kBarrier + kLoadOtherWarp + kBarrier +
               "add.s32 %r10, %r1, 9;\nst.shared.u32 [%r3], %r10;");
  expect_race("st.shared.u32 [%r3], %r1;\nst.shared.u32 [%r5], %r1;", "writes");
}

TEST(RaceTest, LanesOfAWarpNeedSyncwarp) {
  expect_race(kStore + kLoadNeighbour, "no __syncwarp()");
  expect_clean(kStore + "bar.warp.sync -1;\n" + kLoadNeighbour);
  expect_race(kStore + "bar.warp.sync -1;\n" + kLoadOtherWarp, "no barrier");
  // Lanes of one instruction that store different values to one place.
  expect_race("st.shared.u32 [flag], %r1;", "'flag'");
}

TEST(RaceTest, EqualValuesAreNoRace) {
  expect_clean("st.shared.u32 [flag], 1;\n" + kBarrier + "ld.shared.u32 %r9, [flag];");
  expect_clean(kStore + kBarrier + kLoadOtherWarp + "st.shared.u32 [%r3], %r1;");
}

// As when lanes add the same terms in two orders, and all of them store the sum.
TEST(RaceTest, LanesOfOneStoreMayDifferByRounding) {
  const auto store = [](const std::string& step) {
    return "and.b32 %r9, %r1, 1;\nmad.lo.s32 %r9, %r9, " + step +
           ", 0x3F800000;\nst.shared.u32 [flag], %r9;\n";
  };
  EXPECT_TRUE(run_body(store("3"), 1, 32).ok());
  EXPECT_EQ(name(run_body(store("64"), 1, 32).fault.kind), "data_race");
  // Two warps do not store by one instruction, nor does a lane twice.
  EXPECT_EQ(name(run_body(store("3"), 1, 64).fault.kind), "data_race");
  EXPECT_EQ(name(run_body(store("3") + "xor.b32 %r9, %r9, 1;\nst.shared.u32 [flag], %r9;\n", 1, 32)
                     .fault.kind),
            "data_race");
}

TEST(RaceTest, StrongAccessesDoNotRace) {
  expect_clean("setp.ne.u32 %p, %r1, 0;\n@%p bra GO;\nst.shared.u32 [flag], 0;\nGO:\n" + kBarrier +
               "atom.shared.add.u32 %r9, [flag], %r1;\n" + kBarrier + "ld.shared.u32 %r9, [flag];");
  expect_race(
      "setp.ne.u32 %p, %r1, 0;\n@%p bra GO;\nst.shared.u32 [flag], 0;\nGO:\n"
      "atom.shared.add.u32 %r9, [flag], %r1;",
      "'flag'");
  expect_race("setp.ne.u32 %p, %r1, 0;\n@%p bra GO;\nst.shared.u32 [flag], 0;\nGO:\n" + kBarrier +
                  "atom.shared.add.u32 %r9, [flag], 1;\nld.shared.u32 %r9, [flag];",
              "'flag'");
  expect_clean("st.volatile.shared.u32 [%r3], %r1;\nld.volatile.shared.u32 %r9, [%r4];");
}

// The second warp hands over its values with a fence and a flag.
TEST(RaceTest, FencesAndFlagsOrder) {
  const std::string init = "st.shared.u32 [flag], 0;\n" + kStore + kBarrier +
                           "setp.lt.u32 %p, %r1, 32;\n@%p bra WAIT;\nadd.s32 %r9, %r1, 100;\n"
                           "st.shared.u32 [%r3], %r9;\n";
  const std::string wait =
      "bra DONE;\nWAIT:\nld.volatile.shared.u32 %r10, [flag];\nsetp.ne.u32 %q, %r10, 32;\n"
      "@%q bra WAIT;\n";
  const std::string raise = "atom.shared.add.u32 %r11, [flag], 1;\n";
  const std::string read = "ld.shared.u32 %r12, [%r5];\nDONE:\n";
  expect_clean(init + "membar.cta;\n" + raise + wait + "membar.cta;\n" + read);
  expect_race(init + raise + wait + "membar.cta;\n" + read, "'tile'");
  expect_race(init + "membar.cta;\n" + raise + wait + read, "'tile'");
}

TEST(RaceTest, NamedBarriersOrderWhoMeetsThere) {
  // The first warp waits at barrier 1 for the second, which only arrives.
  const std::string first = "setp.ge.u32 %p, %r1, 32;\n@%p bra SECOND;\n";
  const std::string second = "bra DONE;\nSECOND:\n" + kStore + "bar.arrive 1, 64;\nDONE:\n";
  expect_clean(first + "bar.sync 1, 64;\nld.shared.u32 %r9, [%r5];\n" + second);
  expect_race(first + "bar.sync 2, 32;\nld.shared.u32 %r9, [%r5];\nbar.sync 1, 64;\n" + second,
              "'tile'");
}

TEST(RaceTest, BlocksAreNotOrdered) {
  expect_clean("st.global.u32 [%rd4], %r6;", 3);
  expect_race("st.global.u32 [%rd3], %r6;", "block (1, 0, 0) thread (0, 0, 0)", 3);
  expect_clean("st.global.u32 [%rd3], 7;", 3);  // the same value
  expect_clean("red.global.add.u32 [%rd3], %r6;", 3);
  expect_race("ld.global.u32 %r9, [%rd3];\nadd.s32 %r9, %r9, 1;\nst.global.u32 [%rd4], %r9;",
              "'out'", 3);
  // Within one block barriers order global memory too.
  expect_clean(
      "st.global.u32 [%rd3], %r1;\nbar.sync 0;\nxor.b32 %r9, %r1, 40;\n"
      "mul.wide.u32 %rd5, %r9, 4;\nadd.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r10, [%rd5];");
  expect_race(
      "st.global.u32 [%rd3], %r1;\nxor.b32 %r9, %r1, 40;\nmul.wide.u32 %rd5, %r9, 4;\n"
      "add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r10, [%rd5];",
      "'out'");
}

TEST(RaceTest, BytesAndVectorsOverlap) {
  expect_clean("add.s32 %r9, %r2, %r1;\nst.shared.u8 [%r9], %r1;\n");
  expect_race("add.s32 %r9, %r2, %r1;\nst.shared.u8 [%r9], %r1;\nld.shared.u32 %r10, [tile];",
              "'tile'");
  expect_clean(
      "shl.b32 %r9, %r1, 4;\nadd.s32 %r9, %r2, %r9;\n"
      "st.shared.v4.u32 [%r9], {%r1, %r1, %r1, %r1};\nbar.sync 0;\nld.shared.u32 %r10, [%r5];");
}

TEST(RaceTest, ReadsOfWhatNobodyWroteAreReported) {
  const RunResult result = run_body(".loc 1 21 1\nld.shared.u32 %r9, [%r3];");
  EXPECT_TRUE(result.ok());
  ASSERT_TRUE(result.uninitialised_read.has_value());
  EXPECT_EQ(result.uninitialised_read->message,
            "reads byte 0 of 'tile' in shared memory, which no thread has written");
  EXPECT_EQ(result.uninitialised_read->source_line, 21);
  // Every block has memory of its own: what block 0 wrote, block 1 did not.
  EXPECT_TRUE(run_body("setp.eq.u32 %p, %r6, 1;\n@%p bra READ;\n" + kStore + "bra DONE;\nREAD:\n" +
                           "ld.shared.u32 %r9, [%r3];\nDONE:",
                       2)
                  .uninitialised_read.has_value());
}

// Real kernels, clean: no false alarms.
TEST(RaceTest, RealKernelsAreClean) {
  RunOptions options;
  options.detect_races = true;
  for (const char* target : {"sm_90", "sm_100"}) {
    const Program tiled =
        load_or_die(read_kernel(std::string("matmul_tiled.") + target), "matmul_tiled");
    DeviceMemory memory;
    const int n = 64;
    const auto a = make_buffer(memory, "a", random_floats(n * n, 1), BufferAccess::read_only);
    const auto c = make_buffer(memory, "c", std::vector<float>(n * n));
    const RunResult result =
        run_kernel(tiled, memory, {2, 2, 1}, {32, 32, 1},
                   Parameters().add(a).add(a).add(c).add(n).add(n).add(n), options);
    EXPECT_TRUE(result.ok()) << result.fault.message;
    EXPECT_FALSE(result.uninitialised_read.has_value());
  }
}

// A lock: taken by the first thread, given back by it; everybody writes in between. Without acquire
// and release nothing orders the blocks.
TEST(RaceTest, LocksOrderBlocks) {
  const auto locked = [](const std::string& take, const std::string& give) {
    return "add.s64 %rd5, %rd1, 512;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra $in;\n$spin:\natom.global." +
           take +
           "gpu.cas.b32 %r10, [%rd5], 0, 1;\nsetp.ne.u32 %q, %r10, 0;\n@%q bra $spin;\n$in:\n" +
           "bar.sync 0;\nld.global.u32 %r11, [%rd3];\nadd.u32 %r11, %r11, %r6;\n"
           "add.u32 %r11, %r11, 1;\nst.global.u32 [%rd3], %r11;\nbar.sync 0;\n@%p bra $out;\n"
           "atom.global." +
           give + "gpu.exch.b32 %r10, [%rd5], 0;\n$out:";
  };
  expect_clean(locked("acquire.", "release."), 3);
  expect_clean(locked("acq_rel.", "acq_rel."), 3);
  expect_race(locked("relaxed.", "release."), "blocks are not ordered", 3);
  expect_race(locked("acquire.", "relaxed."), "blocks are not ordered", 3);
}

}  // namespace
}  // namespace regraph::ptx::race_test
