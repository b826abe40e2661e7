// What tests of single steps share.
#pragma once

#include "rewrite/kernel_case.h"
#include "rewrite/sample_kernels.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace regraph::test {

inline std::unique_ptr<KernelCase> sample(const std::string& name) {
  for (const SampleKernel& kernel : sample_kernels()) {
    if (kernel.name != name) continue;
    auto made = KernelCase::make(kernel.source, kernel.manifest);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  }
  ADD_FAILURE() << "no sample kernel " << name;
  return nullptr;
}

struct Application {
  std::string step;
  StepParameters parameters;
};

// Applies the steps in turn, expecting each to apply and the result to be correct.
inline rewrite::KernelState expect_correct(const KernelCase& kernel,
                                           const std::vector<Application>& steps) {
  rewrite::KernelState state = kernel.original();
  for (const Application& application : steps) {
    auto next = kernel.apply(state, application.step, application.parameters);
    EXPECT_TRUE(next.ok()) << application.step << ": " << (next.ok() ? "" : next.error().message);
    if (!next) return state;
    state = std::move(*next);
  }
  EXPECT_EQ(kernel.verdict(state), "correct");
  return state;
}

// That the code has the text.
inline void expect_text(const std::string& code, const std::string& text) {
  EXPECT_NE(code.find(text), std::string::npos) << "no " << text << " in\n" << code;
}

inline void expect_no_text(const std::string& code, const std::string& text) {
  EXPECT_EQ(code.find(text), std::string::npos) << text << " in\n" << code;
}

inline void expect_refusal(const KernelCase& kernel, const rewrite::KernelState& state,
                           const Application& step, const std::string& reason) {
  const auto result = kernel.apply(state, step.step, step.parameters);
  ASSERT_FALSE(result.ok()) << step.step << " applied to\n" << source::print(state.unit);
  EXPECT_EQ(result.error().code, ErrorCode::refused);
  EXPECT_NE(result.error().message.find(reason), std::string::npos) << result.error().message;
}

inline void expect_refusal(const KernelCase& kernel, const Application& step,
                           const std::string& reason) {
  expect_refusal(kernel, kernel.original(), step, reason);
}

}  // namespace regraph::test
