#include "eval/model/machine_work.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

namespace regraph::machine_work_test {
namespace {

struct Both {
  WarpWork ptx;
  WarpWork machine;
};

Both work(const std::string& body, int n = 64, const std::string& before = "") {
  const Problem problem =
      test::problem_of("sizes: {m: 65536, n: " + std::to_string(n) +
                           "}\nargs: {in: {shape: [m]}, out: {dir: out, shape: [m]}}\n"
                           "launch: {block: 128, grid: 16}\ntests: [{m: 65536, n: 3}]\n",
                       {test::input("in"), test::output("out"), test::number("n")});
  const test::SampledKernel kernel(problem,
                                   before +
                                       "__global__ void k(const float* in, float* out, int n) {\n"
                                       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                                       body + "\n}\n");
  const ptx::Profile& profile = kernel.sample().profile;
  const WarpWork counted = work_of(profile);
  const auto counts = sass::count_executions(kernel.code(), kernel.program(), profile);
  return {counted, machine_work(kernel.code(), counts, profile, counted)};
}

TEST(MachineWork, ArithmeticOfALoopIsThatOfThePtx) {
  const Both both = work(
      "float x = in[i];\nfor (int r = 0; r < n; ++r) x = x * 1.5f + in[r];\n"
      "out[i] = x;");
  EXPECT_NEAR(both.machine.fp32, both.ptx.fp32, 1.0);
  EXPECT_NEAR(both.machine.global_passes, both.ptx.global_passes, 2.0);
  // What describes the program stays.
  EXPECT_DOUBLE_EQ(both.machine.all, both.ptx.all);
  EXPECT_DOUBLE_EQ(both.machine.global_loads, both.ptx.global_loads);
  EXPECT_DOUBLE_EQ(both.machine.active_lanes, both.ptx.active_lanes);
}

TEST(MachineWork, AddressesThatTheCompilerStrengthReducesCostLess) {
  // One multiplication and addition an access in the source, none of 64 bits in a loop of the
  // machine code.
  const Both both = work(
      "float x = 0.0f;\n#pragma unroll 1\nfor (int r = 0; r < n; ++r)\n"
      "  x += in[r * 128 + i] + in[r * 256 + i] + in[r * 384 + 5];\n"
      "out[i] = x;");
  EXPECT_LT(both.machine.integer + both.machine.integer_multiply,
            1.2 * (both.ptx.integer + both.ptx.integer_multiply));
  EXPECT_GT(both.machine.issued, 6.0 * 64.0);
}

TEST(MachineWork, SharedLoadsThatPtxasJoinsTakeOneSlot) {
  const Both both = work(
      "__shared__ float s[4][128];\nfor (int j = 0; j < 4; ++j) s[j][threadIdx.x] = in[i + j];\n"
      "__syncthreads();\nfloat x = 0.0f;\n#pragma unroll 32\n"
      "for (int j = 0; j < 128; ++j) x += s[threadIdx.x / 32][j] * 1.5f;\nout[i] = x;");
  // 128 loads of a word, 4 of which become one, and 4 stores.
  EXPECT_NEAR(both.ptx.shared_wavefronts, 132.0, 0.5);
  EXPECT_NEAR(both.machine.shared_wavefronts, 36.0, 4.0);
}

TEST(MachineWork, RootsAndQuotientsCostWhatTheyBecame) {
  const Both root = work("out[i] = sqrtf(in[i]);");
  EXPECT_DOUBLE_EQ(root.machine.special_function, 1.0);
  EXPECT_GE(root.machine.fp32, 3.0);
  const Both fast = work("out[i] = __fdividef(in[i], 3.0f + n);");
  const Both exact = work("out[i] = in[i] / (3.0f + n);");
  EXPECT_GT(exact.machine.issued, fast.machine.issued + 3.0);
  const Both power_of_two = work("out[i] = ((const unsigned*)in)[i] % 64u;");
  const Both any = work("out[i] = ((const unsigned*)in)[i] % (unsigned)n;");
  EXPECT_GT(any.machine.issued, power_of_two.machine.issued + 10.0);
}

TEST(MachineWork, GuardedAccessesCountWhenTheirGuardHeld) {
  const Both both = work(
      "float x = in[i];\n#pragma unroll 1\nfor (int r = 0; r < n; ++r) {\n"
      "  if ((r & 7) == 0) x += in[r];\n  x = x * 0.5f;\n}\nout[i] = x;");
  EXPECT_NEAR(both.machine.global_passes, both.ptx.global_passes, 2.0);
}

TEST(MachineWork, LoadsOfConstantsAreCounted) {
  const Both none = work("out[i] = in[i] + 1.0f;");
  const Both both = work(
      "float x = in[i];\n#pragma unroll 1\nfor (int r = 0; r < n; ++r) x = x * table[r] + 1.0f;\n"
      "out[i] = x;",
      64, "__constant__ float table[64];\n");
  EXPECT_NEAR(both.machine.constant_loads, none.machine.constant_loads + 64.0, 4.0);
}

TEST(MachineWork, LoopsWithoutBarriersAreNotInStep) {
  const char* const loop = "#pragma unroll 1\nfor (int r = 0; r < n; ++r) x = x * 1.5f + in[r];\n";
  const std::string begin = "__shared__ float s[128];\nfloat x = in[i];\n";
  const std::string meet = "s[threadIdx.x] = x;\n__syncthreads();\nx += s[threadIdx.x ^ 64];\n";
  const Both apart = work(begin + loop + meet + "out[i] = x;", 1000);
  EXPECT_LT(apart.machine.in_step, 0.1);
  const Both inside = work(begin + "#pragma unroll 1\nfor (int q = 0; q < 5; ++q) {\n" + loop +
                               meet + "__syncthreads();\n}\nout[i] = x;",
                           200);
  EXPECT_EQ(inside.machine.in_step, 1.0);
  EXPECT_EQ(apart.ptx.in_step, 1.0);
}

TEST(MachineWork, LocalMemoryIsCountedWhereItIs) {
  const Both both = work(
      "float a[32];\nfor (int r = 0; r < 32; ++r) a[r] = in[i + r];\n"
      "float x = 0.0f;\n#pragma unroll 1\n"
      "for (int r = 0; r < n; ++r) x += a[(r * n + i) & 31];\nout[i] = x;");
  // 64 loads of 4 bytes, and the stores, wider or not, of 32 words.
  EXPECT_NEAR(both.machine.global_passes, 32.0 + 1.0 + 64.0 + 32.0, 20.0);
}

}  // namespace
}  // namespace regraph::machine_work_test
