// What tests of forms share.
#pragma once

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/kernel_case.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::test {

// The kernel with that body in the form that steps see, as text: `i` is the thread's index, `a` a
// matrix of n rows of m, `b` and `c` have n elements. Expects the form to compute the same. Empty,
// and a failure, where there is no such kernel.
inline std::string plain_text(const std::string& body, const std::string& more_manifest = "") {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, float* c, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "}",
      "sizes: {n: 128, m: 16}\n"
      "args:\n  a: {dir: in, shape: [n, m]}\n  b: {dir: inout, shape: [n]}\n"
      "  c: {dir: inout, shape: [n]}\n"
      "launch: {block: 64, grid: \"cdiv(n, bx)\"}\ntests: [{n: 70, m: 5}, {n: 128, m: 16}]\n" +
          more_manifest);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  if (!kernel) return "";
  rewrite::KernelState state = (*kernel)->original();
  const rewrite::KernelAnalysis analysis = (*kernel)->analysis((*kernel)->original());
  state.unit.kernel = analysis.kernel();
  EXPECT_EQ((*kernel)->verdict(state), "correct");
  return source::print(state.unit);
}

}  // namespace regraph::test
