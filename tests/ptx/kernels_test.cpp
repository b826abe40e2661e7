// Real kernels, compiled by nvcc from the .cu files beside them, against references in C++.
#include "ptx/ptx_test_support.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace regraph::ptx::kernels_test {
namespace {

class KernelsTest : public testing::TestWithParam<HandlerSet> {
 protected:
  [[nodiscard]] static RunOptions options() {
    RunOptions result;
    result.handlers = GetParam();
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(HandlerSets, KernelsTest,
                         testing::Values(HandlerSet::baseline, HandlerSet::x86_64_v3,
                                         HandlerSet::x86_64_v4));

const InstructionProfile& only(const Profile& profile, InstructionClass wanted) {
  const InstructionProfile* found = nullptr;
  for (const InstructionProfile& instruction : profile.instructions) {
    if (instruction.instruction_class == wanted) {
      EXPECT_EQ(found, nullptr);
      found = &instruction;
    }
  }
  if (found == nullptr) std::abort();
  return *found;
}

TEST_P(KernelsTest, VectorAdd) {
  const Program program = load_or_die(read_kernel("vector_add.sm_90"), "vector_add");
  const int n = 1000;
  DeviceMemory memory;
  const auto a = random_floats(n, 1);
  const auto b = random_floats(n, 2);
  const auto da = make_buffer(memory, "a", a, BufferAccess::read_only);
  const auto db = make_buffer(memory, "b", b, BufferAccess::read_only);
  const auto dc = make_buffer(memory, "c", std::vector<float>(n));
  const RunResult result = run_kernel(program, memory, {4, 1, 1}, {256, 1, 1},
                                      Parameters().add(da).add(db).add(dc).add(n), options());
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto c = read_buffer<float>(memory, dc);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
  const InstructionProfile& store = only(result.profile, InstructionClass::store_global);
  EXPECT_EQ(store.requests, 32U);  // the last warp has 8 lanes
  EXPECT_EQ(store.thread_executions, 1000U);
  EXPECT_EQ(store.sectors, 125U);
  EXPECT_EQ(store.lines, 32U);
  EXPECT_EQ(store.wavefronts, 32U);
  EXPECT_EQ(store.source_line, 3);
}

void check_matmul(const std::string& file, const std::string& entry, Dim3 block,
                  const RunOptions& options, int m, int n, int k) {
  const Program program = load_or_die(read_kernel(file), entry);
  DeviceMemory memory;
  const auto a = random_floats(static_cast<std::size_t>(m) * k, 1);
  const auto b = random_floats(static_cast<std::size_t>(k) * n, 2);
  const auto da = make_buffer(memory, "a", a, BufferAccess::read_only);
  const auto db = make_buffer(memory, "b", b, BufferAccess::read_only);
  const auto dc = make_buffer(memory, "c", std::vector<float>(static_cast<std::size_t>(m) * n));
  const Dim3 grid{(n + block.x - 1) / block.x, (m + block.y - 1) / block.y, 1};
  const RunResult result =
      run_kernel(program, memory, grid, block,
                 Parameters().add(da).add(db).add(dc).add(m).add(n).add(k), options);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto c = read_buffer<float>(memory, dc);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i) {
        sum = std::fma(a[static_cast<std::size_t>(row) * k + i],
                       b[static_cast<std::size_t>(i) * n + column], sum);
      }
      ASSERT_EQ(c[static_cast<std::size_t>(row) * n + column], sum) << row << ' ' << column;
    }
  }
}
TEST_P(KernelsTest, NaiveMatmul) {
  check_matmul("matmul_naive.sm_90", "matmul_naive", {16, 16, 1}, options(), 37, 45, 29);
  check_matmul("matmul_naive.sm_90", "matmul_naive", {32, 8, 1}, options(), 64, 64, 64);
}
TEST_P(KernelsTest, TiledMatmul) {
  check_matmul("matmul_tiled.sm_90", "matmul_tiled", {32, 32, 1}, options(), 70, 50, 45);
  check_matmul("matmul_tiled.sm_100", "matmul_tiled", {32, 32, 1}, options(), 70, 50, 45);
}
TEST_P(KernelsTest, RegisterTiledMatmul) {
  const Program program =
      load_or_die(read_kernel("sgemm_register_tiled.sm_90"), "sgemm_register_tiled");
  const int m = 128;
  const int n = 256;
  const int k = 24;
  DeviceMemory memory;
  const auto a = random_floats(m * k, 1);
  const auto b = random_floats(k * n, 2);
  const auto da = make_buffer(memory, "a", a, BufferAccess::read_only);
  const auto db = make_buffer(memory, "b", b, BufferAccess::read_only);
  const auto dc = make_buffer(memory, "c", std::vector<float>(m * n));
  const RunResult result =
      run_kernel(program, memory, {2, 1, 1}, {256, 1, 1},
                 Parameters().add(da).add(db).add(dc).add(m).add(n).add(k), options());
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto c = read_buffer<float>(memory, dc);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum = std::fma(a[row * k + i], b[i * n + column], sum);
      ASSERT_EQ(c[row * n + column], sum);
    }
  }
}

TEST_P(KernelsTest, Transpose) {
  const Program program = load_or_die(read_kernel("transpose.sm_90"), "transpose");
  const int rows = 100;
  const int columns = 77;
  DeviceMemory memory;
  const auto in = random_floats(rows * columns, 3);
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<float>(in.size()));
  const RunResult result =
      run_kernel(program, memory, {3, 4, 1}, {32, 8, 1},
                 Parameters().add(d_in).add(d_out).add(rows).add(columns), options());
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<float>(memory, d_out);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      ASSERT_EQ(out[c * rows + r], in[r * columns + c]);
  }
  // The padded tile has no bank conflicts.
  for (const InstructionProfile& instruction : result.profile.instructions) {
    if (instruction.instruction_class == InstructionClass::load_shared) {
      EXPECT_EQ(instruction.wavefronts, instruction.requests);
    }
  }
}

TEST_P(KernelsTest, DivergentReduction) {
  const Program program = load_or_die(read_kernel("reduce_tree.sm_90"), "reduce_tree");
  const int n = 1000;
  const int threads = 128;
  const int blocks = (n + threads - 1) / threads;
  DeviceMemory memory;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = static_cast<float>(i % 17 - 8);  // sums are exact
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<float>(blocks));
  const RunResult result =
      run_kernel(program, memory, {static_cast<std::uint32_t>(blocks), 1, 1}, {threads, 1, 1},
                 Parameters().add(d_in).add(d_out).add(n), options(), threads * 4);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<float>(memory, d_out);
  for (int b = 0; b < blocks; ++b) {
    float sum = 0;
    for (int i = b * threads; i < std::min(n, (b + 1) * threads); ++i)
      sum += in[i];
    EXPECT_EQ(out[b], sum) << b;
  }
}

void check_softmax(const std::string& file, const RunOptions& options) {
  const Program program = load_or_die(read_kernel(file), "softmax");
  const int rows = 3;
  const int columns = 333;
  DeviceMemory memory;
  std::vector<float> in = random_floats(rows * columns, 4);
  for (float& value : in)
    value *= 10;
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<float>(in.size()));
  const RunResult result = run_kernel(program, memory, {rows, 1, 1}, {128, 1, 1},
                                      Parameters().add(d_in).add(d_out).add(columns), options);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<float>(memory, d_out);
  for (int r = 0; r < rows; ++r) {
    double largest = -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (int c = 0; c < columns; ++c)
      largest = std::max<double>(largest, in[r * columns + c]);
    for (int c = 0; c < columns; ++c)
      sum += std::exp(in[r * columns + c] - largest);
    for (int c = 0; c < columns; ++c) {
      const double expected = std::exp(in[r * columns + c] - largest) / sum;
      ASSERT_NEAR(out[r * columns + c], expected, 1e-6 * expected + 1e-12) << r << ' ' << c;
    }
  }
}
TEST_P(KernelsTest, Softmax) {
  check_softmax("softmax.sm_90", options());
  check_softmax("softmax.sm_100", options());
}

void check_scan(const std::string& file, const RunOptions& options) {
  const Program program = load_or_die(read_kernel(file), "warp_scan");
  const int n = 1000;
  const int threads = 256;
  DeviceMemory memory;
  std::vector<std::int32_t> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = static_cast<std::int32_t>(random_bits(5, i) % 1000) - 500;
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<std::int32_t>(n));
  const RunResult result = run_kernel(program, memory, {4, 1, 1}, {threads, 1, 1},
                                      Parameters().add(d_in).add(d_out).add(n), options);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<std::int32_t>(memory, d_out);
  std::int32_t sum = 0;
  for (int i = 0; i < n; ++i) {
    sum = i % threads == 0 ? in[i] : sum + in[i];
    ASSERT_EQ(out[i], sum) << i;
  }
}
TEST_P(KernelsTest, WarpScan) {
  check_scan("warp_scan.sm_90", options());
  check_scan("warp_scan.sm_100", options());
}

void check_math(const std::string& file, const RunOptions& options) {
  const Program program = load_or_die(read_kernel(file), "math_mix");
  const int n = 500;
  DeviceMemory memory;
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = 0.01F + 0.019F * static_cast<float>(i);
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<float>(n));
  const RunResult result = run_kernel(program, memory, {4, 1, 1}, {128, 1, 1},
                                      Parameters().add(d_in).add(d_out).add(n), options);
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<float>(memory, d_out);
  for (int i = 0; i < n; ++i) {
    const double x = in[i];
    const double large = in[i] * 1e5F;  // beyond the fast argument reduction
    const double expected = std::sin(x) + std::cos(large) + std::exp(x) + std::log(x) +
                            std::pow(x, static_cast<double>(1.7F)) + std::tanh(x) + std::erf(x) +
                            x / static_cast<double>(3.7F) + std::sqrt(x) + std::fmod(x, 2.0) +
                            std::atan2(x, 3.0) + std::round(x);
    ASSERT_NEAR(out[i], expected, 2e-6 * (std::fabs(expected) + 5)) << x;
  }
}
TEST_P(KernelsTest, MathematicalFunctions) {
  check_math("math_mix.sm_90", options());
  check_math("math_mix.sm_100", options());
}

TEST_P(KernelsTest, AsynchronousCopies) {
  const Program program = load_or_die(read_kernel("async_copy.sm_90"), "async_copy");
  DeviceMemory memory;
  const auto in = random_floats(2 * 128 * 4, 6);
  const auto d_in = make_buffer(memory, "in", in, BufferAccess::read_only);
  const auto d_out = make_buffer(memory, "out", std::vector<float>(in.size()));
  const RunResult result = run_kernel(program, memory, {2, 1, 1}, {128, 1, 1},
                                      Parameters().add(d_in).add(d_out), options());
  ASSERT_TRUE(result.ok()) << result.fault.message;
  const auto out = read_buffer<float>(memory, d_out);
  for (int block = 0; block < 2; ++block) {
    for (int i = 0; i < 128; ++i) {
      for (int j = 0; j < 4; ++j) {
        ASSERT_EQ(out[(block * 128 + i) * 4 + j], in[(block * 128 + 127 - i) * 4 + j]);
      }
    }
  }
  const InstructionProfile& load = only(result.profile, InstructionClass::load_global);
  EXPECT_EQ(load.access_bytes, 16);
  EXPECT_EQ(load.requests, 8U);
  EXPECT_EQ(load.sectors, 8U * 16);
}

}  // namespace
}  // namespace regraph::ptx::kernels_test
