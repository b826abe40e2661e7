// Clusters of blocks that exchange nothing: where a block is in its cluster, and the barrier.
#include "ptx/ptx_test_support.h"

#include <array>

namespace regraph::ptx::cluster_test {
namespace {

std::string kernel(const std::string& cluster, const std::string& body) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n" +
         cluster + "\n{\n  .shared .align 4 .b8 tile[512];\n  .reg .pred %p;\n" +
         "  .reg .b32 %r<20>;\n  .reg .b64 %rd<8>;\n  ld.param.u64 %rd1, [out];\n" + body +
         "\n  ret;\n}\n";
}

constexpr Dim3 kGrid = {4, 6, 2};

// What every block's one thread finds in a special register.
std::vector<std::uint32_t> special(const std::string& cluster, const std::string& name) {
  const Program program = load_or_die(
      kernel(cluster,
             "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ctaid.y;\n  mov.u32 %r3, %ctaid.z;\n"
             "  mad.lo.u32 %r2, %r3, 6, %r2;\n  mad.lo.u32 %r1, %r2, 4, %r1;\n"
             "  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd1, %rd1, %rd2;\n  mov.u32 %r4, " +
                 name + ";\n  st.global.u32 [%rd1], %r4;"),
      "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(kGrid.count()));
  const RunResult run = run_kernel(program, memory, kGrid, {1, 1, 1}, Parameters().add(out), {});
  EXPECT_TRUE(run.ok()) << run.fault.message;
  return read_buffer<std::uint32_t>(memory, out);
}

TEST(ClusterTest, BlocksKnowTheirPlace) {
  const std::array<std::uint32_t, 3> size = {2, 3, 1};
  const std::string cluster = ".explicitcluster\n.reqnctapercluster 2, 3, 1";
  const auto over_blocks = [&](const std::string& name, const auto& expected) {
    const std::vector<std::uint32_t> found = special(cluster, name);
    std::size_t k = 0;
    for (std::uint32_t z = 0; z < kGrid.z; ++z) {
      for (std::uint32_t y = 0; y < kGrid.y; ++y) {
        for (std::uint32_t x = 0; x < kGrid.x; ++x, ++k)
          ASSERT_EQ(found[k], expected(x, y, z)) << name << " of " << x << ' ' << y << ' ' << z;
      }
    }
  };
  using Number = std::uint32_t;
  over_blocks("%clusterid.x", [&](Number x, Number, Number) { return x / size[0]; });
  over_blocks("%clusterid.y", [&](Number, Number y, Number) { return y / size[1]; });
  over_blocks("%clusterid.z", [&](Number, Number, Number z) { return z; });
  over_blocks("%cluster_ctaid.x", [&](Number x, Number, Number) { return x % size[0]; });
  over_blocks("%cluster_ctaid.y", [&](Number, Number y, Number) { return y % size[1]; });
  over_blocks("%cluster_ctaid.z", [&](Number, Number, Number) { return 0U; });
  over_blocks("%cluster_ctarank", [&](Number x, Number y, Number) { return x % 2 + 2 * (y % 3); });
  over_blocks("%nclusterid.x", [&](Number, Number, Number) { return 2U; });
  over_blocks("%nclusterid.y", [&](Number, Number, Number) { return 2U; });
  over_blocks("%nclusterid.z", [&](Number, Number, Number) { return 2U; });
  over_blocks("%cluster_nctaid.x", [&](Number, Number, Number) { return 2U; });
  over_blocks("%cluster_nctaid.y", [&](Number, Number, Number) { return 3U; });
  over_blocks("%cluster_nctarank", [&](Number, Number, Number) { return 6U; });
}

TEST(ClusterTest, WithoutOneABlockIsItsOwn) {
  for (const char* name :
       {"%clusterid.x", "%nclusterid.y", "%cluster_ctarank", "%cluster_nctaid.z"})
    EXPECT_EQ(special("", name), special(".reqnctapercluster 1", name)) << name;
  EXPECT_EQ(special("", "%clusterid.x"), special("", "%ctaid.x"));
  EXPECT_EQ(special("", "%cluster_nctarank"), std::vector<std::uint32_t>(kGrid.count(), 1));
}

// Each thread writes a word that another warp's thread reads, with `between` in between.
RunResult exchanged(const std::string& between, std::vector<std::uint32_t>* values = nullptr) {
  const Program program =
      load_or_die(kernel(".reqnctapercluster 2",
                         "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, tile;\n  shl.b32 %r3, %r1, 2;\n"
                         "  add.u32 %r4, %r2, %r3;\n  st.shared.u32 [%r4], %r1;\n" +
                             between +
                             "  xor.b32 %r5, %r3, 508;\n  add.u32 %r5, %r2, %r5;\n"
                             "  ld.shared.u32 %r6, [%r5];\n  mul.wide.u32 %rd2, %r1, 4;\n"
                             "  mov.u32 %r7, %ctaid.x;\n  mul.wide.u32 %rd3, %r7, 512;\n"
                             "  add.s64 %rd1, %rd1, %rd2;\n  add.s64 %rd1, %rd1, %rd3;\n"
                             "  st.global.u32 [%rd1], %r6;"),
                  "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(256));
  RunOptions options;
  options.detect_races = true;
  const RunResult run =
      run_kernel(program, memory, {2, 1, 1}, {128, 1, 1}, Parameters().add(out), options);
  if (values != nullptr) *values = read_buffer<std::uint32_t>(memory, out);
  return run;
}

TEST(ClusterTest, TheBarrierIsOneOfTheBlock) {
  std::vector<std::uint32_t> values;
  const RunResult run = exchanged(
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n",
      &values);
  ASSERT_TRUE(run.ok()) << run.fault.message;
  for (std::uint32_t i = 0; i < 256; ++i)
    ASSERT_EQ(values[i], 127 - i % 128);
  EXPECT_EQ(exchanged("").fault.kind, FaultKind::data_race);
}

// A thread at the cluster's barrier does not meet those at the block's.
TEST(ClusterTest, OtherBarriersAreOthers) {
  const RunResult run = exchanged(
      "  setp.lt.u32 %p, %r1, 64;\n  @%p bra MINE;\n  bar.sync 0;\n  bra DONE;\nMINE:\n"
      "  barrier.cluster.arrive;\n  barrier.cluster.wait;\nDONE:\n");
  EXPECT_EQ(run.fault.kind, FaultKind::barrier_divergence) << run.fault.message;
}

TEST(ClusterTest, ABarrierThatIsJumpedIntoIsNotKnown) {
  const auto program = Program::load(
      kernel("", "  barrier.cluster.arrive;\nL:\n  barrier.cluster.wait;\n  bra L;"), "k");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::unsupported);
  EXPECT_NE(program.error().message.find("apart"), std::string::npos);
}

TEST(ClusterTest, AGridIsAWholeNumberOfClusters) {
  const Program program = load_or_die(kernel(".reqnctapercluster 2, 1, 1", ""), "k");
  DeviceMemory memory;
  const auto out = make_buffer(memory, "out", std::vector<std::uint32_t>(1));
  const RunResult run =
      run_kernel(program, memory, {3, 1, 1}, {32, 1, 1}, Parameters().add(out), {});
  EXPECT_EQ(run.fault.kind, FaultKind::bad_launch);
  EXPECT_NE(run.fault.message.find("no whole number of clusters of 2x1x1"), std::string::npos)
      << run.fault.message;
}

TEST(ClusterTest, ExtentsAreChecked) {
  for (const char* extents : {"0", "17", "2, 99999999999"})
    EXPECT_FALSE(Program::load(kernel(std::string(".reqnctapercluster ") + extents, ""), "k").ok())
        << extents;
}

}  // namespace
}  // namespace regraph::ptx::cluster_test
