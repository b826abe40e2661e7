// Cache traffic of kernels whose traffic can be worked out by hand.
#include "ptx/caches/cache_simulation.h"

#include "ptx/caches/cache_model.h"
#include "ptx/ptx_test_support.h"

#include <fmt/format.h>

#include <iterator>

namespace regraph::ptx::cache_simulation_test {
namespace {

CacheGeometry small_gpu() {
  CacheGeometry geometry;
  geometry.sm_count = 4;
  geometry.resident_blocks_per_sm = 2;
  geometry.l1_bytes = 32 << 10;
  geometry.l2_bytes = 1 << 20;
  return geometry;
}

Result<CacheTraffic> simulate(const std::string& file, const std::string& entry, Dim3 grid,
                              Dim3 block, const std::vector<std::size_t>& buffers,
                              const std::vector<int>& scalars, const CacheGeometry& geometry,
                              const CacheSimulationLimits& limits = {}) {
  const Program program = load_or_die(read_kernel(file), entry);
  DeviceMemory memory;
  Parameters parameters;
  for (std::size_t bytes : buffers) {
    parameters.add(*memory.allocate("buffer", bytes, BufferAccess::read_write));
  }
  for (int scalar : scalars)
    parameters.add(scalar);
  LaunchArguments arguments;
  arguments.grid = grid;
  arguments.block = block;
  arguments.parameters = parameters.bytes();
  return simulate_caches(program, arguments, memory, geometry, limits, Cancellation());
}

TEST(CacheModelTest, KeepsTheRecentlyUsed) {
  SectoredCache cache(4 * 128, 4);  // one set of four lines
  EXPECT_EQ(cache.read(1, 0b0011), 0U);
  EXPECT_EQ(cache.read(1, 0b0110), 0b0010U);
  for (std::uint64_t line = 2; line <= 4; ++line)
    EXPECT_EQ(cache.read(line, 1), 0U);
  EXPECT_EQ(cache.read(1, 0b0111), 0b0111U);  // still there, now the newest
  EXPECT_EQ(cache.read(5, 1), 0U);            // replaces line 2
  EXPECT_EQ(cache.read(1, 1), 1U);
  EXPECT_EQ(cache.read(2, 1), 0U);
  EXPECT_EQ(cache.write(1, 0b11), 0b11U);
  EXPECT_EQ(cache.write(1, 0b111), 0b100U);
}

TEST(CacheSimulationTest, StreamingReadsEverythingOnce) {
  const int n = 1 << 16;
  const std::size_t bytes = n * sizeof(float);
  const auto traffic = simulate("vector_add.sm_90", "vector_add", {n / 256, 1, 1}, {256, 1, 1},
                                {bytes, bytes, bytes}, {n}, small_gpu());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_FALSE(traffic->truncated);
  EXPECT_EQ(traffic->grid_blocks, 256U);
  EXPECT_EQ(traffic->blocks_simulated, 16U);
  EXPECT_DOUBLE_EQ(traffic->global_requests, 3.0 * n / 32);
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 2.0 * bytes);
  EXPECT_DOUBLE_EQ(traffic->dram_write_bytes, 1.0 * bytes);
  EXPECT_DOUBLE_EQ(traffic->l2_read_bytes, 2.0 * bytes);
  EXPECT_DOUBLE_EQ(traffic->l1_hit_sectors, 0.0);
}

TEST(CacheSimulationTest, PartOfAWave) {
  const auto traffic = simulate("vector_add.sm_90", "vector_add", {3, 1, 1}, {256, 1, 1},
                                {4096, 4096, 4096}, {700}, small_gpu());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_EQ(traffic->blocks_simulated, 3U);
  constexpr int kSectors = (700 * 4 + 31) / 32;
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 2.0 * 32 * kSectors);
}

// A copy that only fills with zeros is no access, wherever its address is.
TEST(CacheSimulationTest, CopiesOfNothingAreNoAccesses) {
  const Program program = load_or_die(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry copy(.param .u64 in)\n{\n"
      ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 tile[128];\n"
      "ld.param.u64 %rd1, [in];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\nshl.b32 %r1, %r1, 2;\n"
      "mov.u32 %r2, tile;\nadd.u32 %r1, %r1, %r2;\n"
      "cp.async.ca.shared.global [%r1], [%rd1], 4, 4;\n"
      "cp.async.ca.shared.global [%r1], [%rd1+4096], 4, 0;\n"
      "cp.async.commit_group;\ncp.async.wait_group 0;\nret;\n}\n",
      "copy");
  DeviceMemory memory;
  Parameters parameters;
  parameters.add(*memory.allocate("buffer", 128, BufferAccess::read_only));
  LaunchArguments arguments;
  arguments.grid = {1, 1, 1};
  arguments.block = {32, 1, 1};
  arguments.parameters = parameters.bytes();
  const auto traffic = simulate_caches(program, arguments, memory, small_gpu(), {}, Cancellation());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 128.0);
}

// Where the lines of a matrix are is a matter of the register that says how far they are apart.
TEST(CacheSimulationTest, LinesOfAMatrixAreWhereTheyAre) {
  const Program program = load_or_die(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry load(.param .u64 in)\n{\n"
      ".reg .b32 %r<10>;\n.reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [in];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r9, 64;\n"
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
      "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;\nret;\n}\n",
      "load");
  DeviceMemory memory;
  Parameters parameters;
  parameters.add(*memory.allocate("buffer", 16 * 64 * 2, BufferAccess::read_only));
  LaunchArguments arguments;
  arguments.grid = {1, 1, 1};
  arguments.block = {32, 1, 1};
  arguments.parameters = parameters.bytes();
  const auto traffic = simulate_caches(program, arguments, memory, small_gpu(), {}, Cancellation());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 16.0 * 32);
}

// Everything fits the L2: each matrix is read from DRAM once, whatever the number of waves.
TEST(CacheSimulationTest, SmallProductsComeFromL2) {
  const int n = 128;
  const std::size_t bytes = n * n * sizeof(float);
  const auto traffic = simulate("matmul_tiled.sm_90", "matmul_tiled", {4, 4, 1}, {32, 32, 1},
                                {bytes, bytes, bytes}, {n, n, n}, small_gpu());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  // Wave 1 computes the upper half: half of A, all of B; wave 2 the other half of A.
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 2.0 * bytes);
  // Each block reads 32 rows of A and 32 columns of B.
  EXPECT_DOUBLE_EQ(traffic->l1_load_sectors * 32, 16 * 2 * 32.0 * n * 4);
}

// Truncated traces give nearly the figures of whole ones.
TEST(CacheSimulationTest, TruncationKeepsTheRates) {
  const int n = 512;
  const std::size_t bytes = static_cast<std::size_t>(n) * n * sizeof(float);
  const auto run = [&](std::uint64_t requests) {
    CacheSimulationLimits limits;
    limits.requests_per_wave = requests;
    return simulate("matmul_naive.sm_90", "matmul_naive", {16, 64, 1}, {32, 8, 1},
                    {bytes, bytes, bytes}, {n, n, n}, small_gpu(), limits);
  };
  const auto whole = run(1'000'000);
  const auto cut = run(20'000);
  ASSERT_TRUE(whole.ok() && cut.ok());
  EXPECT_FALSE(whole->truncated);
  EXPECT_TRUE(cut->truncated);
  EXPECT_DOUBLE_EQ(whole->global_requests, cut->global_requests);
  EXPECT_DOUBLE_EQ(whole->l1_load_sectors, cut->l1_load_sectors);
  EXPECT_DOUBLE_EQ(whole->dram_write_bytes, cut->dram_write_bytes);
  EXPECT_NEAR(cut->l2_read_bytes / whole->l2_read_bytes, 1.0, 0.15);
  EXPECT_NEAR(cut->dram_read_bytes / whole->dram_read_bytes, 1.0, 0.35);
  const auto again = run(20'000);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->dram_read_bytes, cut->dram_read_bytes);
}

// Thread i of a warp stores `bytes` bytes at i * stride + first.
CacheTraffic stores(int bytes, int stride, int first) {
  const std::string value = bytes == 16 ? "{%r1, %r1, %r1, %r1}" : bytes == 2 ? "%h1" : "%r1";
  const std::string type = bytes == 16 ? "v4.u32" : bytes == 2 ? "u16" : "u32";
  const Program program =
      load_or_die(fmt::format(".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry store(.param .u64 out)\n{{\n"
                              ".reg .b16 %h<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
                              "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\n"
                              "mov.u32 %r1, %tid.x;\nmov.u16 %h1, 1;\nmul.wide.u32 %rd2, %r1, {};\n"
                              "add.s64 %rd1, %rd1, %rd2;\nst.global.{} [%rd1+{}], {};\nret;\n}}\n",
                              stride, type, first, value),
                  "store");
  DeviceMemory memory;
  LaunchArguments arguments;
  arguments.block = {32, 1, 1};
  arguments.parameters =
      Parameters().add(*memory.allocate("out", 4096, BufferAccess::read_write)).bytes();
  auto traffic = simulate_caches(program, arguments, memory, small_gpu(), {}, Cancellation());
  EXPECT_TRUE(traffic.ok()) << traffic.error().message;
  return traffic.ok() ? *traffic : CacheTraffic{};
}

// A sector is whole where one request has all of its bytes, whichever lanes they are of.
TEST(CacheSimulationTest, SectorsAreWrittenWholeOrInPart) {
  struct Case {
    int bytes, stride, first;
    double sectors, partial;
  };
  for (const Case& one : {Case{4, 4, 0, 4, 0}, Case{2, 2, 0, 2, 0}, Case{16, 16, 0, 16, 0},
                          Case{4, 4, 16, 5, 2}, Case{4, 8, 0, 8, 8}, Case{4, 32, 0, 32, 32},
                          Case{16, 32, 0, 32, 32}, Case{16, 0, 0, 1, 1}}) {
    const CacheTraffic traffic = stores(one.bytes, one.stride, one.first);
    EXPECT_DOUBLE_EQ(traffic.l2_write_bytes, 32 * one.sectors) << one.bytes << ' ' << one.stride;
    EXPECT_DOUBLE_EQ(traffic.l2_partial_write_bytes, 32 * one.partial)
        << one.bytes << ' ' << one.stride << ' ' << one.first;
  }
}

// Addresses that come from memory are followed for real.
TEST(CacheSimulationTest, IndirectAddressesAreRead) {
  const std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry gather(.param .u64 index, .param .u64 table, .param .u64 out) {
  .reg .b32 %r<8>;
  .reg .f32 %f1;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [index];
  ld.param.u64 %rd2, [table];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r2, [%rd5];
  mul.wide.u32 %rd6, %r2, 4;
  add.s64 %rd7, %rd2, %rd6;
  ld.global.f32 %f1, [%rd7];
  add.s64 %rd8, %rd3, %rd4;
  st.global.f32 [%rd8], %f1;
  ret;
})";
  const Program program = load_or_die(ptx, "gather");
  const auto sectors = [&](std::uint32_t stride) {
    DeviceMemory memory;
    std::vector<std::uint32_t> index(32);
    for (std::uint32_t l = 0; l < 32; ++l)
      index[l] = l * stride;
    const auto d_index = make_buffer(memory, "index", index);
    const auto d_table = make_buffer(memory, "table", std::vector<float>(4096));
    const auto d_out = make_buffer(memory, "out", std::vector<float>(32, 5.0F));
    LaunchArguments arguments;
    arguments.block = {32, 1, 1};
    arguments.parameters = Parameters().add(d_index).add(d_table).add(d_out).bytes();
    const auto traffic =
        simulate_caches(program, arguments, memory, small_gpu(), {}, Cancellation());
    EXPECT_TRUE(traffic.ok());
    EXPECT_EQ(read_buffer<float>(memory, d_out)[0], 5.0F);  // memory is left alone
    return traffic->l1_load_sectors;
  };
  EXPECT_DOUBLE_EQ(sectors(1), 4 + 4.0);
  EXPECT_DOUBLE_EQ(sectors(8), 4 + 32.0);
  EXPECT_DOUBLE_EQ(sectors(0), 4 + 1.0);
}

std::string text_of(const CacheTraffic& traffic) {
  std::string text = fmt::format(
      "{} {} {} | {} {} {} | {} {} | {} {} {}\n", traffic.global_requests, traffic.l1_load_sectors,
      traffic.l1_hit_sectors, traffic.l2_read_bytes, traffic.l2_hit_bytes, traffic.l2_write_bytes,
      traffic.dram_read_bytes, traffic.dram_write_bytes, traffic.blocks_simulated,
      traffic.grid_blocks, traffic.truncated);
  for (const LoadService& load : traffic.loads) {
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {}\n", load.l1, load.l2, load.dram,
                   load.shared_l2, load.shared_dram);
  }
  return text;
}

TEST(CacheSimulationTest, IsTheSameWithAnyNumberOfThreads) {
  const int n = 256;
  const std::size_t bytes = static_cast<std::size_t>(n) * n * sizeof(float);
  CacheGeometry gpu = small_gpu();
  gpu.sm_count = 17;         // groups of SMs of unequal sizes
  gpu.l2_bytes = 128 << 10;  // misses of all kinds
  for (const std::uint64_t requests : {1'000'000, 20'000}) {
    for (const bool tiled : {false, true}) {
      const auto run = [&](ThreadBudget* threads) {
        CacheSimulationLimits limits;
        limits.requests_per_wave = requests;
        limits.threads = threads;
        return tiled ? simulate("matmul_tiled.sm_90", "matmul_tiled", {8, 8, 1}, {32, 32, 1},
                                {bytes, bytes, bytes}, {n, n, n}, gpu, limits)
                     : simulate("matmul_naive.sm_90", "matmul_naive", {8, 32, 1}, {32, 8, 1},
                                {bytes, bytes, bytes}, {n, n, n}, gpu, limits);
      };
      const auto alone = run(nullptr);
      ASSERT_TRUE(alone.ok());
      for (const int count : {2, 7}) {
        ThreadBudget threads;
        threads.limit(count);
        const ThreadBudget::Share calling = threads.enter();
        const auto together = run(&threads);
        ASSERT_TRUE(together.ok());
        EXPECT_EQ(text_of(*together), text_of(*alone)) << requests << (tiled ? " tiled" : " naive");
      }
    }
  }
}

// Blocks 4, 5, .. run outside the buffer; the earliest is the one that is told of.
TEST(CacheSimulationTest, TheEarliestFaultIsToldWithAnyNumberOfThreads) {
  CacheGeometry gpu = small_gpu();
  gpu.sm_count = 64;
  const auto message = [&](int count) {
    ThreadBudget threads;
    threads.limit(count);
    const ThreadBudget::Share calling = threads.enter();
    CacheSimulationLimits limits;
    limits.threads = &threads;
    const auto traffic = simulate("vector_add.sm_90", "vector_add", {96, 1, 1}, {256, 1, 1},
                                  {4096, 1 << 20, 1 << 20}, {96 * 256}, gpu, limits);
    return traffic.ok() ? std::string() : traffic.error().message;
  };
  const std::string alone = message(1);
  EXPECT_NE(alone, "");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(message(5), alone);
}

TEST(CacheSimulationTest, FaultsAndBadInputsAreErrors) {
  const auto outside = simulate("vector_add.sm_90", "vector_add", {5, 1, 1}, {256, 1, 1},
                                {4096, 4096, 4096}, {1025}, small_gpu());
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.error().code, ErrorCode::invalid_argument);
  CacheGeometry none = small_gpu();
  none.sm_count = 0;
  EXPECT_FALSE(
      simulate("vector_add.sm_90", "vector_add", {1, 1, 1}, {32, 1, 1}, {128, 128, 128}, {32}, none)
          .ok());
}

}  // namespace
}  // namespace regraph::ptx::cache_simulation_test
