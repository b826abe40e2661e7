// Random bits through every product of mma.sync and many of wgmma.
#include "ptx/matrix_bits.h"

#include "ptx/matrix_shapes.h"
#include "ptx/warpgroup_kernel.h"

namespace regraph::ptx {
namespace {

constexpr std::uint64_t kSeeds = 6;

std::vector<std::uint64_t> random_registers(const Shape& shape, Spread spread, std::uint64_t seed) {
  std::vector<std::uint64_t> words = spread_words(shape.a, 32 * shape.a_words(), spread, seed);
  for (const std::uint64_t word : spread_words(shape.b, 32 * shape.b_words(), spread, seed + 1))
    words.push_back(word);
  for (const std::uint64_t word : spread_words(shape.sum, 32 * shape.sum_words(), spread, seed + 2))
    words.push_back(word);
  return words;
}

TEST(MatrixBitsTest, WarpsMultiplyAnything) {
  for (const Shape& shape : shapes()) {
    for (const Spread spread : kSpreads) {
      SCOPED_TRACE(shape.text() + ' ' + name(spread));
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto out = run_on_registers(
            shape.text(), shape.a_words() + shape.b_words() + shape.sum_words(), shape.sum_words(),
            random_registers(shape, spread, 1000 * seed), shape.sum == "f64");
        EXPECT_EQ(out.size(), static_cast<std::size_t>(32 * shape.sum_words()));
      }
    }
  }
}

std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& words) {
  return {words.begin(), words.end()};
}

TEST(MatrixBitsTest, WarpgroupsMultiplyAnything) {
  std::vector<WarpgroupCase> cases;
  for (const std::string sum : {"f32", "f16"}) {
    cases.push_back({.sum = sum, .columns = 16, .swizzle_a = 0, .swizzle_b = 0});
    cases.push_back({.sum = sum, .columns = 16, .swizzle_a = 0, .swizzle_b = 0, .scale_a = -1});
    cases.push_back({.sum = sum, .columns = 16, .swizzle_a = 0, .swizzle_b = 0, .adds = false});
    for (const std::string a : {"e4m3", "e5m2"}) {
      for (const std::string b : {"e4m3", "e5m2"})
        cases.push_back(
            {.a = a, .b = b, .sum = sum, .columns = 16, .swizzle_a = 0, .swizzle_b = 0});
    }
  }
  for (const std::string type : {"bf16", "tf32"})
    cases.push_back({.a = type, .b = type, .columns = 16, .swizzle_a = 0, .swizzle_b = 0});
  for (const std::string a : {"s8", "u8"}) {
    for (const std::string b : {"s8", "u8"})
      cases.push_back(
          {.a = a, .b = b, .sum = "s32", .columns = 16, .swizzle_a = 0, .swizzle_b = 0});
  }
  for (const WarpgroupCase& c : cases) {
    const MatrixLayout a{64, c.depth(), bits_of_type(c.a) / 8, 0, false};
    const MatrixLayout b{c.columns, c.depth(), bits_of_type(c.b) / 8, 0, false};
    const int b_at = (a.size() + 1023) / 1024 * 1024;
    const int bytes = (b_at + b.size() + 511) / 512 * 512;
    const int sums = c.columns / 2 / values_of_type(c.sum);
    const Program program = load_or_die(
        warpgroup_kernel(c, bytes, b_at, a, b, "  wgmma.wait_group.sync.aligned 0;\n"), "k");
    for (const Spread spread : kSpreads) {
      SCOPED_TRACE(c.text() + ' ' + name(spread));
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        std::vector<std::uint64_t> factors = spread_words(c.a, b_at / 4, spread, seed);
        for (const std::uint64_t word : spread_words(c.b, (bytes - b_at) / 4, spread, seed + 100))
          factors.push_back(word);
        DeviceMemory memory;
        const auto in = make_buffer(memory, "in", narrow(factors), BufferAccess::read_only);
        const auto registers = make_buffer(
            memory, "registers", narrow(spread_words(c.sum, 128 * (sums + 4), spread, seed + 200)));
        const RunResult run =
            run_kernel(program, memory, {1, 1, 1}, {128, 1, 1}, Parameters().add(in).add(registers),
                       {}, static_cast<std::uint32_t>(bytes));
        EXPECT_TRUE(run.ok()) << run.fault.message;
      }
    }
  }
}

}  // namespace
}  // namespace regraph::ptx
