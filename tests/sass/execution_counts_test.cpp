#include "sass/execution_counts.h"

#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

namespace regraph::sass::execution_counts_test {
namespace {

using ptx::InstructionClass;
using test::CountedKernel;
using test::kernel_with;

TEST(ExecutionCounts, StraightCodeRunsOnce) {
  for (const char* architecture : test::kArchitectures) {
    const CountedKernel kernel(kernel_with("out[threadIdx.x] = in[threadIdx.x] * 1.5f + n;"), 3,
                               architecture);
    EXPECT_DOUBLE_EQ(kernel.executed(OperationClass::load_global), 1.0);
    EXPECT_DOUBLE_EQ(kernel.executed(OperationClass::store_global), 1.0);
    EXPECT_DOUBLE_EQ(kernel.executed(OperationClass::fp32), 1.0);
    EXPECT_DOUBLE_EQ(kernel.counts().matched_memory, 1.0);
    EXPECT_DOUBLE_EQ(kernel.counts().unknown, 0.0);
    // What stands behind the end does not run.
    for (std::size_t j = 0; j < kernel.code().instructions.size(); ++j) {
      if (kernel.code().instructions[j].what.operation_class == OperationClass::no_operation) {
        EXPECT_DOUBLE_EQ(kernel.counts().executions[j], 0.0);
      }
    }
  }
}

// The compiler unrolls this by 4 in PTX and ptxas again by 4, with loops and straight code behind:
// copies must share the iterations.
TEST(ExecutionCounts, AnUnrolledLoopRunsItsArithmeticAsOftenAsThePtx) {
  const std::string source = kernel_with(
      "float x = 0.0f;\nint t = threadIdx.x;\n"
      "for (int i = 0; i < n; ++i) x += in[i] * out[i * n + t];\n"
      "out[threadIdx.x] = x;");
  for (const char* architecture : test::kArchitectures) {
    for (const int n : {0, 1, 3, 4, 7, 16, 20, 33, 50, 60}) {
      const CountedKernel kernel(source, n, architecture);
      const double wanted = n;
      EXPECT_NEAR(kernel.executed(OperationClass::fp32), wanted, 0.02 * wanted + 1e-9)
          << architecture << " " << n;
      EXPECT_NEAR(kernel.executed(OperationClass::load_global), 2.0 * wanted, 0.04 * wanted + 1e-9)
          << architecture << " " << n;
    }
    // There is something to tell apart.
    EXPECT_GT(CountedKernel(source, 16, architecture).stand(OperationClass::fp32), 16);
  }
}

TEST(ExecutionCounts, ALoopThatIsUnrolledWhollyIsNotCountedTwice) {
  const CountedKernel kernel(
      kernel_with("float x = in[threadIdx.x];\n#pragma unroll\n"
                  "for (int i = 0; i < 24; ++i) x = x * x + 0.25f;\nout[threadIdx.x] = x;"),
      0);
  EXPECT_DOUBLE_EQ(kernel.executed(OperationClass::fp32), 24.0);
}

TEST(ExecutionCounts, NestedLoopsMultiply) {
  const CountedKernel kernel(
      kernel_with("float x = in[threadIdx.x];\n#pragma unroll 1\nfor (int i = 0; i < n; ++i) {\n"
                  "  x = x * 0.5f;\n"
                  "  #pragma unroll 1\n  for (int j = 0; j < 10; ++j) x = x * x + 0.25f;\n"
                  "  x += in[i];\n}\nout[threadIdx.x] = x;"),
      20);
  // 20 products, 20 sums, 200 multiply-adds.
  EXPECT_NEAR(kernel.executed(OperationClass::fp32), 240.0, 5.0);
  EXPECT_NEAR(kernel.executed(OperationClass::load_global), 21.0, 0.5);
}

// Inner loops of constant length vanish in the machine code of an outer one.
TEST(ExecutionCounts, AnInnerLoopUnrolledByTheMachineCompilerOnly) {
  const CountedKernel kernel(
      kernel_with("float x = in[threadIdx.x];\n#pragma unroll 1\nfor (int i = 0; i < n; ++i) {\n"
                  "  #pragma unroll 8\n  for (int j = 0; j < 8; ++j) x = x * x + in[j];\n}\n"
                  "out[threadIdx.x] = x;"),
      50);
  EXPECT_NEAR(kernel.executed(OperationClass::fp32), 400.0, 8.0);
}

TEST(ExecutionCounts, CodeThatDidNotRunCountsNothing) {
  const std::string source = kernel_with(
      "float x = in[threadIdx.x];\nif (n > 100) {\n  #pragma unroll 1\n"
      "  for (int i = 0; i < n; ++i) x = x / in[i] + sqrtf(x);\n}\nout[threadIdx.x] = x;");
  const CountedKernel skipped(source, 5);
  EXPECT_DOUBLE_EQ(skipped.executed(OperationClass::special_function), 0.0);
  EXPECT_DOUBLE_EQ(skipped.executed(OperationClass::load_global), 1.0);
  const CountedKernel taken(source, 200);
  EXPECT_NEAR(taken.executed(OperationClass::special_function), 600.0, 12.0);  // RCP, FCHK, RSQ
}

TEST(ExecutionCounts, HalfOfTheLoopsRoundsTakeABranch) {
  const CountedKernel kernel(
      kernel_with("float x = in[threadIdx.x];\n#pragma unroll 1\nfor (int i = 0; i < n; ++i) {\n"
                  "  if (i & 1) {\n    #pragma unroll 1\n    for (int j = 0; j < 7; ++j)"
                  " x = x * x + 0.5f;\n  }\n  x += in[i];\n}\nout[threadIdx.x] = x;"),
      100);
  EXPECT_NEAR(kernel.executed(OperationClass::fp32), 100.0 + 350.0, 15.0);
}

TEST(ExecutionCounts, DivisionsAndRootsCostTheirExpansion) {
  const double copy = CountedKernel(kernel_with("out[threadIdx.x] = in[threadIdx.x];"), 0)
                          .executed(OperationClass::fp32);
  EXPECT_DOUBLE_EQ(copy, 0.0);
  const CountedKernel division(kernel_with("out[threadIdx.x] = in[threadIdx.x] / in[n];"), 1);
  // One reciprocal, its refinement in multiply-adds, and a range check; no slow path.
  EXPECT_DOUBLE_EQ(division.in_ptx(InstructionClass::divide), 1.0);
  EXPECT_GE(division.executed(OperationClass::fp32), 5.0);
  EXPECT_LE(division.executed(OperationClass::fp32), 9.0);
  EXPECT_DOUBLE_EQ(division.executed(OperationClass::special_function), 2.0);  // RCP and FCHK
  bool slow_path = false;
  for (const CodeFunction& function : division.code().functions) {
    slow_path = slow_path || function.slow_path;
    for (std::uint32_t j = function.first; function.slow_path && j < function.last; ++j)
      EXPECT_DOUBLE_EQ(division.counts().executions[j], 0.0);
  }
  EXPECT_TRUE(slow_path);
  const CountedKernel root(kernel_with("out[threadIdx.x] = sqrtf(in[threadIdx.x]);"), 1);
  EXPECT_DOUBLE_EQ(root.executed(OperationClass::special_function), 1.0);
  EXPECT_GE(root.executed(OperationClass::fp32), 3.0);
  EXPECT_LE(root.executed(OperationClass::fp32), 6.0);
  const CountedKernel remainder(
      kernel_with("((unsigned*)out)[threadIdx.x] = ((unsigned*)in)[threadIdx.x] % (n + 7u);"), 4);
  EXPECT_GE(remainder.executed(OperationClass::integer_multiply) +
                remainder.executed(OperationClass::integer),
            8.0);
  EXPECT_GE(remainder.executed(OperationClass::special_function), 2.0);
}

TEST(ExecutionCounts, SubroutinesRunAsOftenAsTheyAreCalled) {
  const std::string source = kernel_with(
      "long long x = ((const long long*)in)[threadIdx.x];\n#pragma unroll 1\n"
      "for (int i = 0; i < n; ++i) x = x / (0x100000000LL + i);\n"
      "((long long*)out)[threadIdx.x] = x;");
  const CountedKernel kernel(source, 10);
  double executed = 0.0;
  for (const CodeFunction& function : kernel.code().functions) {
    if (!function.internal) continue;
    EXPECT_FALSE(function.slow_path) << function.name;
    executed = kernel.counts().executions[function.first];
  }
  EXPECT_NEAR(executed, kernel.in_ptx(InstructionClass::divide), 0.5);
  EXPECT_GE(executed, 1.0);
}

TEST(ExecutionCounts, FunctionsThatAreCalledCountByTheirOwnLines) {
  const CountedKernel kernel(
      kernel_with("out[threadIdx.x] = power(in[threadIdx.x], n) + power(in[n], 3);",
                  "__device__ __noinline__ float power(float x, int n) {\n"
                  "  #pragma unroll 1\n  for (int i = 0; i < n; ++i) x = x * x + 0.5f;\n"
                  "  return x;\n}\n"),
      20);
  EXPECT_NEAR(kernel.executed(OperationClass::fp32), 20.0 + 3.0 + 1.0, 1.5);
}

TEST(ExecutionCounts, AtomicsThatBecomeLoopsRunTheirRounds) {
  const std::string source = kernel_with(
      "__shared__ float s[32];\ns[threadIdx.x] = 0.0f;\n__syncthreads();\n"
      "atomicAdd(&s[threadIdx.x / n], in[threadIdx.x]);\n__syncthreads();\n"
      "out[threadIdx.x] = s[threadIdx.x];");
  // A compare-and-swap loop: one round for each lane that wants the same word.
  const CountedKernel apart(source, 1);
  const CountedKernel eight(source, 8);
  EXPECT_NEAR(apart.executed(OperationClass::atomic_shared), 1.0, 0.01);
  EXPECT_NEAR(eight.executed(OperationClass::atomic_shared), 8.0, 0.01);
}

// ptxas puts loads that never happen in front of a fence for all of memory.
TEST(ExecutionCounts, WhatNeverHappensCountsNothing) {
  const CountedKernel kernel(
      kernel_with("__shared__ __align__(16) float tile[32];\n"
                  "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\n"
                  "  \"r\"((unsigned)__cvta_generic_to_shared(&tile[threadIdx.x])),\n"
                  "  \"l\"(in + threadIdx.x) : \"memory\");\n"
                  "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
                  "asm volatile(\"fence.proxy.async;\" ::: \"memory\"); __syncthreads();\n"
                  "out[threadIdx.x] = tile[31 - threadIdx.x];"),
      3, "sm_90");
  std::size_t never = 0;
  for (const CodeInstruction& one : kernel.code().instructions) {
    if (one.what.guard == kTrue && one.what.guard_negated) ++never;
  }
  EXPECT_GT(never, 0U);
  EXPECT_DOUBLE_EQ(kernel.executed(OperationClass::load_shared), 1.0);
  EXPECT_DOUBLE_EQ(kernel.counts().matched_memory, 1.0);
}

TEST(ExecutionCounts, AnotherKernelsLinesDoNotMatch) {
  const CountedKernel one(kernel_with("out[threadIdx.x] = in[threadIdx.x];"), 1);
  const CountedKernel two(
      kernel_with("__shared__ float s[32]; float x = 0.0f;\n"
                  "for (int i = 0; i < n; ++i) { s[threadIdx.x] = in[i]; __syncthreads();"
                  " x += s[31 - threadIdx.x] / in[i]; }\nout[threadIdx.x] = x;"),
      9);
  const ExecutionCounts mixed = count_executions(two.code(), one.program(), one.profile());
  EXPECT_LT(mixed.matched_memory, 0.8);
}

TEST(ExecutionCounts, NothingRanNothingCounts) {
  const CountedKernel kernel(kernel_with("out[threadIdx.x] = in[threadIdx.x];"), 1);
  const ExecutionCounts counts = count_executions(kernel.code(), kernel.program(), {});
  ASSERT_EQ(counts.executions.size(), kernel.code().instructions.size());
  for (const double times : counts.executions)
    EXPECT_EQ(times, 0.0);
}

// A loop of the source in three of the PTX, inside another: blocks of eight, unrolled eight times
// by the compiler's front end, with remainders, and again by ptxas.
TEST(ExecutionCounts, UnrolledLoopsInsideALoopAgreeWithThePtx) {
  const std::string body = R"cuda(
  const float4* bodies = (const float4*)in;
  for (unsigned int block = blockIdx.x; block < (n + 31) / 32; block += gridDim.x) {
    int i = block * blockDim.x + threadIdx.x;
    if (i < n) {
      float4 own = bodies[i];
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
      float ax_part[8], ay_part[8], az_part[8];
      #pragma unroll
      for (int part = 0; part < 8; ++part) ax_part[part] = ay_part[part] = az_part[part] = 0.0f;
      const int j_end = max(n, 0) / 8 * 8;
      #pragma unroll 8
      for (int j2 = 0; j2 < j_end; j2 += 8) {
        #pragma unroll
        for (int part2 = 0; part2 < 8; ++part2) {
          float4 other = bodies[j2 + part2];
          float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
          float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
          float pull = other.w * inverse * inverse * inverse;
          ax_part[part2] += dx * pull;
          ay_part[part2] += dy * pull;
          az_part[part2] += dz * pull;
        }
      }
      #pragma unroll 1
      for (int j3 = j_end; j3 < n; ++j3) {
        float4 other = bodies[j3];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float pull = other.w * inverse * inverse * inverse;
        ax += dx * pull;
        ay += dy * pull;
        az += dz * pull;
      }
      #pragma unroll
      for (int part = 0; part < 8; ++part) ax += ax_part[part] + ay_part[part] * az_part[part];
      out[i] = ax + ay * az;
    }
  })cuda";
  for (const char* architecture : test::kArchitectures) {
    for (const int n : {1024, 1000, 60}) {
      const test::CountedKernel kernel(test::kernel_with(body), n, architecture);
      const double expected = kernel.in_ptx(ptx::InstructionClass::special_function);
      EXPECT_NEAR(kernel.executed(OperationClass::special_function), expected, 0.1 * expected)
          << architecture << ", n = " << n;
      EXPECT_GT(kernel.counts().carried_out, 0.4) << architecture << ", n = " << n;
    }
  }
}

}  // namespace
}  // namespace regraph::sass::execution_counts_test
