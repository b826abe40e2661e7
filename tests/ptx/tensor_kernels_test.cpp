// Whole matrix products as CUDA compilers make them: mma.sync fed by cp.async and ldmatrix, wgmma
// fed by bulk copies and mbarriers.
#include "ptx/matrix_test_support.h"

namespace regraph::ptx::tensor_kernels_test {
namespace {

constexpr std::size_t kSize = 192;
using Values = std::vector<double>;

Values small_integers(std::uint64_t seed) {
  Values values(kSize * kSize);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = random_value("f16", random_bits(seed, i), true);
  return values;
}

// Where row and column lie, in elements.
template <typename PlaceOf>
std::vector<std::uint16_t> halves(const Values& values, PlaceOf place_of) {
  std::vector<std::uint16_t> bits(values.size());
  for (std::size_t row = 0; row < kSize; ++row) {
    for (std::size_t column = 0; column < kSize; ++column)
      bits[place_of(row, column)] =
          static_cast<std::uint16_t>(encode("f16", values[row * kSize + column]));
  }
  return bits;
}

template <typename PlaceOf>
void expect_product(const std::string& file, const std::string& entry, std::uint32_t threads,
                    bool transposed, PlaceOf place_of) {
  const Program program = load_or_die(read_kernel(file), entry);
  const Values a = small_integers(1);
  const Values b = small_integers(2);
  for (const bool races : {false, true}) {
    DeviceMemory memory;
    const auto d_a = make_buffer(memory, "a", halves(a, place_of), BufferAccess::read_only);
    const auto d_b = make_buffer(memory, "b", halves(b, place_of), BufferAccess::read_only);
    const auto d_c = make_buffer(memory, "c", std::vector<float>(kSize * kSize));
    RunOptions options;
    options.detect_races = races;
    const RunResult run =
        run_kernel(program, memory, {kSize / 64, kSize / 64, 1}, {threads, 1, 1},
                   Parameters().add(d_a).add(d_b).add(d_c).add(static_cast<int>(kSize)), options);
    ASSERT_TRUE(run.ok()) << run.fault.message << ", PTX line " << run.fault.ptx_line;
    EXPECT_FALSE(run.uninitialised_read.has_value());
    const auto c = read_buffer<float>(memory, d_c);
    for (std::size_t row = 0; row < kSize; ++row) {
      for (std::size_t column = 0; column < kSize; ++column) {
        double sum = 0;
        for (std::size_t k = 0; k < kSize; ++k)
          sum += a[row * kSize + k] * (transposed ? b[column * kSize + k] : b[k * kSize + column]);
        ASSERT_EQ(c[row * kSize + column], sum) << row << ' ' << column;
      }
    }
    double multiply_adds = 0;
    for (const InstructionProfile& p : run.profile.instructions)
      multiply_adds += static_cast<double>(p.warp_executions) * p.multiply_adds;
    EXPECT_EQ(multiply_adds, static_cast<double>(kSize * kSize * kSize));
  }
}

TEST(TensorKernelsTest, ProductOfOneWarpEach) {
  expect_product("matmul_mma.sm_90", "matmul_mma", 128, false,
                 [](std::size_t row, std::size_t column) { return row * kSize + column; });
}

TEST(TensorKernelsTest, ProductOfAWarpgroup) {
  expect_product("matmul_wgmma.sm_90a", "matmul_wgmma", 160, true,
                 [](std::size_t row, std::size_t column) {
                   const std::size_t tile = row / 64 * (kSize / 64) + column / 64;
                   const std::size_t cell = column % 64 / 8 ^ row % 8;
                   return tile * 4096 + row % 64 * 64 + cell * 8 + column % 8;
                 });
}

}  // namespace
}  // namespace regraph::ptx::tensor_kernels_test
