// Functions the compiler did not inline, in code from both of its front ends.
#include "ptx/ptx_test_support.h"

#include <cmath>

namespace regraph::ptx::calls_test {
namespace {

constexpr const char* kTargets[] = {"sm_90", "sm_100"};

int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

RunResult run_calls(const std::string& target, DeviceMemory& memory, const std::vector<float>& x,
                    std::uint64_t out) {
  const Program program = load_or_die(read_kernel("calls." + target), "calls");
  const auto in = make_buffer(memory, "x", x, BufferAccess::read_only);
  return run_kernel(program, memory, {1, 1, 1}, {static_cast<std::uint32_t>(x.size()), 1, 1},
                    Parameters().add(in).add(out));
}

TEST(CallsTest, StructuresRecursionAndLocals) {
  std::vector<float> x(48);
  for (int i = 0; i < 48; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(i) * 1.5F;
  for (const char* target : kTargets) {
    DeviceMemory memory;
    const auto out = make_buffer(memory, "out", std::vector<int>(48));
    const RunResult result = run_calls(target, memory, x, out);
    ASSERT_TRUE(result.ok()) << result.fault.message;
    const auto values = read_buffer<int>(memory, out);
    for (int t = 0; t < 48; ++t) {
      const auto s = static_cast<float>(t);
      float v[4] = {2 * s, 2, 3, s > 3 ? 4.0F : 4.0F + x[static_cast<std::size_t>(t)]};
      const int stored = fibonacci(t & 7) < 2 ? 70 + (t & 3) : fibonacci(t & 7);
      const int sum = (t & 1) != 0 ? fibonacci(t & 15) * 10 : 0;
      const int expected = sum + static_cast<int>(v[0]) + static_cast<int>(v[3]) + t + t + stored +
                           3 * t + static_cast<int>(v[t & 3]);
      ASSERT_EQ(values[static_cast<std::size_t>(t)], expected) << target << " thread " << t;
    }
  }
}

TEST(CallsTest, AssertionsNameTheirPlace) {
  for (const char* target : kTargets) {
    std::vector<float> x(40, 1.0F);
    x[33] = -1.0F;
    DeviceMemory memory;
    const auto out = make_buffer(memory, "out", std::vector<int>(40));
    const RunResult result = run_calls(target, memory, x, out);
    EXPECT_EQ(result.fault.kind, FaultKind::trap);
    EXPECT_EQ(result.fault.thread.x, 33U);
    EXPECT_EQ(result.fault.message,
              "assertion failed: 'x[t] >= 0' at calls.cu:42 in void calls(const float *, int *)");
  }
}

TEST(CallsTest, PointersToFunctions) {
  for (const char* target : kTargets) {
    const Program program = load_or_die(read_kernel(std::string("calls.") + target), "indirect");
    DeviceMemory memory;
    std::vector<int> values(32);
    for (int i = 0; i < 32; ++i)
      values[static_cast<std::size_t>(i)] = i - 7;
    const auto buffer = make_buffer(memory, "values", values);
    const RunResult result =
        run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters().add(buffer));
    ASSERT_TRUE(result.ok()) << result.fault.message;
    const auto after = read_buffer<int>(memory, buffer);
    for (std::size_t i = 0; i < 32; ++i) {
      const int a = values[i];
      EXPECT_EQ(after[i], (i % 2 == 0 ? a * 2 : a * a) + 1);
    }
  }
}

TEST(CallsTest, SlowPathsOfDoubleFunctions) {
  for (const char* target : kTargets) {
    const Program program =
        load_or_die(read_kernel(std::string("double_functions.") + target), "double_functions");
    std::vector<double> x(64);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = (static_cast<double>(i) - 30.3) * 0.37;
    DeviceMemory memory;
    const auto in = make_buffer(memory, "x", x, BufferAccess::read_only);
    const auto out = make_buffer(memory, "out", std::vector<double>(64));
    const RunResult result =
        run_kernel(program, memory, {1, 1, 1}, {64, 1, 1}, Parameters().add(in).add(out));
    ASSERT_TRUE(result.ok()) << result.fault.message;
    const auto values = read_buffer<double>(memory, out);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = x[i];
      const double b = std::fabs(a);
      const double expected = std::sin(a * 1e6) + std::cos(a * 1e15) + std::pow(b + 0.1, 3.7) +
                              std::tgamma(b + 0.5) + std::lgamma(b + 0.5) + std::tan(a) +
                              std::fmod(a * 1e9, 7.0);
      EXPECT_NEAR(values[i], expected, 1e-12 * (std::fabs(expected) + 10)) << target << " " << a;
    }
  }
}

TEST(CallsTest, CopiesFillWithZeros) {
  for (const char* target : kTargets) {
    const Program program =
        load_or_die(read_kernel(std::string("copy_with_zeros.") + target), "copy_with_zeros");
    for (const int n : {0, 1, 63, 64, 66, 128}) {
      const auto x = random_floats(static_cast<std::size_t>(std::max(n, 1)), 3);
      DeviceMemory memory;
      const auto in = make_buffer(memory, "in", x, BufferAccess::read_only);
      const auto out = make_buffer(memory, "out", std::vector<float>(128, -1));
      const RunResult result =
          run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters().add(in).add(out).add(n));
      ASSERT_TRUE(result.ok()) << result.fault.message;
      const auto values = read_buffer<float>(memory, out);
      for (std::size_t i = 0; i < 128; ++i)
        ASSERT_EQ(values[i], i < static_cast<std::size_t>(n) ? x[i] : 0.0F) << target << n << i;
    }
  }
}

// A function that calls itself without end runs out of stack, and says so.
TEST(CallsTest, EndlessRecursionIsAFault) {
  const Program program = load_or_die(R"(.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 r) deeper(.param .b32 n)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  {
  .param .b32 p0;
  .param .b32 q0;
  st.param.b32 [p0], %r1;
  call.uni (q0), deeper, (p0);
  ld.param.b32 %r2, [q0];
  }
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry k()
{
  .reg .b32 %r<3>;
  {
  .param .b32 p0;
  .param .b32 q0;
  st.param.b32 [p0], 5;
  call.uni (q0), deeper, (p0);
  }
  ret;
})",
                                      "k");
  DeviceMemory memory;
  const RunResult result = run_kernel(program, memory, {1, 1, 1}, {32, 1, 1}, Parameters());
  EXPECT_EQ(result.fault.kind, FaultKind::out_of_bounds);
  EXPECT_NE(result.fault.message.find("stack"), std::string::npos) << result.fault.message;
}

}  // namespace
}  // namespace regraph::ptx::calls_test
