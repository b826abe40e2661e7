#include "sass/machine_code.h"

#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::sass::machine_code_test {
namespace {

using test::kernel_with;

TEST(MachineCode, KnowsItsArchitectureAndItsKernel) {
  for (const auto& [architecture, number] :
       {std::pair{"sm_80", 80}, std::pair{"sm_90", 90}, std::pair{"sm_100", 100}}) {
    const CompiledKernel& kernel =
        test::compiled(kernel_with("out[threadIdx.x] = in[threadIdx.x];"), architecture);
    const MachineCode code = test::machine_code(kernel);
    EXPECT_EQ(code.architecture, number);
    ASSERT_FALSE(code.functions.empty());
    EXPECT_EQ(code.functions.front().name, kernel.entry);
    EXPECT_EQ(code.functions.front().first, 0u);
    EXPECT_EQ(code.functions.back().last, code.instructions.size());
    const bool ends = std::any_of(
        code.instructions.begin(), code.instructions.end(), [](const CodeInstruction& one) {
          return one.what.operation_class == OperationClass::exit && !one.what.falls_through;
        });
    EXPECT_TRUE(ends) << architecture;
  }
}

TEST(MachineCode, LeavesOtherKernelsOut) {
  const CompiledKernel& kernel = test::compiled(
      kernel_with("out[threadIdx.x] = in[threadIdx.x];",
                  "__global__ void other(double* p) { p[threadIdx.x] = p[threadIdx.x] * 2.0; }\n"));
  for (const CodeInstruction& one : test::machine_code(kernel).instructions)
    EXPECT_NE(one.what.operation_class, OperationClass::fp64);
  EXPECT_FALSE(read_machine_code(kernel.cubin, "no_such_kernel").ok());
}

TEST(MachineCode, FindsTheLoop) {
  const MachineCode code = test::machine_code(test::compiled(kernel_with(
      "float x = in[threadIdx.x];\n#pragma unroll 1\nfor (int i = 0; i < n; ++i) x = x * x + 1.0f;"
      "out[threadIdx.x] = x;")));
  // The other loop is the jump to itself behind the end of every kernel.
  const auto with_arithmetic = std::count_if(
      code.flow.loops.begin(), code.flow.loops.end(), [&](const ptx::NaturalLoop& loop) {
        const ptx::BasicBlock& header = code.flow.blocks[loop.header];
        for (std::uint32_t j = header.first; j < header.last; ++j) {
          if (code.instructions[j].what.operation_class == OperationClass::fp32) return true;
        }
        return false;
      });
  EXPECT_GE(with_arithmetic, 1);
}

TEST(MachineCode, NamesTheSubroutinesOfTheCompiler) {
  const MachineCode code = test::machine_code(test::compiled(kernel_with(
      "out[threadIdx.x] = in[threadIdx.x] / in[n] + sqrtf(in[threadIdx.x + 1]);"
      "((long long*)out)[threadIdx.x + 64] = ((long long*)in)[threadIdx.x] / (n + 1LL);")));
  int slow = 0;
  int other = 0;
  for (const CodeFunction& function : code.functions) {
    if (!function.internal) continue;
    ++(function.slow_path ? slow : other);
    for (std::uint32_t j = function.first; j < function.last; ++j)
      EXPECT_EQ(code.instructions[j].ptx_line, 0) << function.name;
  }
  EXPECT_EQ(slow, 2);
  EXPECT_EQ(other, 1);  // the division of 64 bits
  // Each is called, and calls are resolved.
  for (const CodeFunction& function : code.functions) {
    if (!function.internal) continue;
    const bool called = std::any_of(
        code.instructions.begin(), code.instructions.end(), [&](const CodeInstruction& one) {
          return one.what.operation == kCallRelative && one.target == function.first;
        });
    EXPECT_TRUE(called) << function.name;
  }
}

TEST(MachineCode, IncludesFunctionsThatWereNotInlined) {
  const MachineCode code = test::machine_code(test::compiled(
      kernel_with("out[threadIdx.x] = twice(in[threadIdx.x], n) + twice(in[n], 3);",
                  "__device__ __noinline__ float twice(float x, int n) {\n"
                  "  for (int i = 0; i < n; ++i) x = x * x + 0.5f;\n  return x;\n}\n")));
  ASSERT_GE(code.functions.size(), 2u);
  const bool found =
      std::any_of(code.functions.begin(), code.functions.end(), [](const CodeFunction& function) {
        return function.name.find("twice") != std::string::npos && !function.internal;
      });
  EXPECT_TRUE(found);
}

TEST(MachineCode, SurvivesTruncatedAndDamagedCubins) {
  const CompiledKernel& kernel = test::compiled(
      kernel_with("float x = in[threadIdx.x]; for (int i = 0; i < n; ++i) x = x / (x + i);"
                  "out[threadIdx.x] = x;"));
  int readable = 0;
  for (std::size_t length = 0; length < kernel.cubin.size(); length += 7) {
    const std::vector<std::byte> part(kernel.cubin.begin(),
                                      kernel.cubin.begin() + static_cast<long>(length));
    (void)read_machine_code(part, kernel.entry);
  }
  const ptx::Program program = ptx::load_or_die(kernel.ptx, kernel.entry);
  ptx::Profile profile;
  profile.warps = 1;
  for (const ptx::InstructionInfo& info : program.code().instructions) {
    ptx::InstructionProfile one;
    one.ptx_line = info.line;
    one.instruction_class = info.instruction_class;
    one.warp_executions = 3;
    profile.instructions.push_back(one);
  }
  for (std::uint64_t round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes = kernel.cubin;
    const std::uint64_t changes = 1 + random_bits(round, 0) % 8;
    for (std::uint64_t change = 0; change < changes; ++change) {
      // Every third change falls on the header or the section table.
      std::uint64_t at = random_bits(round, change, 1) % bytes.size();
      if (change % 3 == 0) at = random_bits(round, change, 2) % 64;
      bytes[at] = static_cast<std::byte>(random_bits(round, change, 3));
    }
    const auto code = read_machine_code(bytes, kernel.entry);
    if (!code.ok()) continue;
    ++readable;
    const ExecutionCounts counts = count_executions(*code, program, profile);
    ASSERT_EQ(counts.executions.size(), code->instructions.size());
    for (const double times : counts.executions)
      ASSERT_GE(times, 0.0) << round;
  }
  EXPECT_GT(readable, 300);
}

}  // namespace
}  // namespace regraph::sass::machine_code_test
