// Random bits through every product of mma.sync and many of wgmma.
#include "ptx/matrix_bits.h"

#include "base/hash.h"
#include "ptx/matrix_shapes.h"
#include "ptx/warpgroup_kernel.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

namespace regraph::ptx::matrix_bits_test {
namespace {

constexpr std::uint64_t kUsualSeeds = 6;
// REGRAPH_MATRIX_SEEDS: more of them, with a GPU beside.
std::uint64_t seeds() {
  const char* const more = std::getenv("REGRAPH_MATRIX_SEEDS");
  return more == nullptr ? kUsualSeeds : std::strtoull(more, nullptr, 10);
}

// What an H200 found, by instruction and spread, as hashes over all seeds: h200_matrix_bits.txt,
// written by this test with REGRAPH_WRITE_MATRIX_BITS=FILE while a GPU agreed to all of it
// (tests/gpu/ptx).
class Found {
 public:
  Found() {
    std::ifstream file(test_file("h200_matrix_bits.txt"));
    std::string hash;
    for (std::string what; file >> hash && std::getline(file >> std::ws, what);)
      hashes_[what] = hash;
    if (const char* const written = std::getenv("REGRAPH_WRITE_MATRIX_BITS"); written != nullptr)
      to_.open(written, std::ios::app);
  }
  void expect(const std::string& what, const Hasher& values) {
    const std::string hash = values.finish().hex();
    if (to_.is_open()) {
      to_ << hash << ' ' << what << '\n';
    } else if (seeds() == kUsualSeeds) {
      EXPECT_EQ(hash, hashes_[what]) << what;
    }
  }

 private:
  std::map<std::string, std::string> hashes_;
  std::ofstream to_;
};

void add_all(Hasher& hasher, const std::vector<std::uint64_t>& words) {
  hasher.add(std::string_view(reinterpret_cast<const char*>(words.data()), words.size() * 8));
}

std::vector<std::uint64_t> random_registers(const Shape& shape, Spread spread, std::uint64_t seed) {
  std::vector<std::uint64_t> words = spread_words(shape.a, 32 * shape.a_words(), spread, seed);
  for (const std::uint64_t word : spread_words(shape.b, 32 * shape.b_words(), spread, seed + 1))
    words.push_back(word);
  for (const std::uint64_t word : spread_words(shape.sum, 32 * shape.sum_words(), spread, seed + 2))
    words.push_back(word);
  return words;
}

TEST(MatrixBitsTest, WarpsMultiplyAsAnH200) {
  Found found;
  for (const Shape& shape : shapes()) {
    for (const Spread spread : kSpreads) {
      // Of doubles the hardware keeps what NaNs carry.
      if (shape.sum == "f64" && spread == Spread::wild) continue;
      SCOPED_TRACE(shape.text() + ' ' + name(spread));
      Hasher values;
      for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
        const auto out = run_on_registers(
            shape.text(), shape.a_words() + shape.b_words() + shape.sum_words(), shape.sum_words(),
            random_registers(shape, spread, 1000 * seed), shape.sum == "f64");
        EXPECT_EQ(out.size(), static_cast<std::size_t>(32 * shape.sum_words()));
        add_all(values, out);
      }
      found.expect(name(spread) + ' ' + shape.text(), values);
    }
  }
}

std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& words) {
  return {words.begin(), words.end()};
}

TEST(MatrixBitsTest, WarpgroupsMultiplyAsAnH200) {
  Found found;
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
      Hasher values;
      for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
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
        const auto out = read_buffer<std::uint32_t>(memory, registers);
        add_all(values, {out.begin(), out.end()});
      }
      found.expect(name(spread) + ' ' + c.text() + (c.adds ? "" : " no C") +
                       (c.scale_a < 0 ? " negated" : ""),
                   values);
    }
  }
}

}  // namespace
}  // namespace regraph::ptx::matrix_bits_test
