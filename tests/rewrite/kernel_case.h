// A kernel with everything a rewriting test needs: parsed, compiled, and a verifier for its
// variants.
#pragma once

#include "base/result.h"
#include "eval/compile/compiler.h"
#include "eval/verify/verifier.h"
#include "kernel/device_limits.h"
#include "kernel/problem.h"
#include "rewrite/step_views.h"
#include "rewrite/steps/step_rewriter.h"
#include "support/device_limits.h"

#include <memory>
#include <string>

namespace regraph::test {

class KernelCase {
 public:
  // `manifest` is YAML. Errors of any stage.
  static Result<std::unique_ptr<KernelCase>> make(const std::string& source,
                                                  const std::string& manifest,
                                                  const DeviceLimits& limits = sm_90_limits());
  // From examples/NAME.
  static Result<std::unique_ptr<KernelCase>> example(const std::string& name);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const rewrite::KernelState& original() const { return original_; }

  [[nodiscard]] Result<rewrite::KernelState> apply(const rewrite::KernelState& state,
                                                   const std::string& step,
                                                   const StepParameters& parameters = {}) const;
  // What the steps share at the state, which must outlive it.
  [[nodiscard]] rewrite::KernelAnalysis analysis(const rewrite::KernelState& state) const {
    return {state, problem_, limits_};
  }
  // The state as the search shows it to steps; the same holds.
  [[nodiscard]] rewrite::StepViews views(const rewrite::KernelState& state) const {
    return {state, problem_, limits_};
  }
  // Compiles the state and compares it with the original on every test size.
  [[nodiscard]] VerificationResult verify(const rewrite::KernelState& state) const;
  // Verdict and message, with the source when it is not correct.
  [[nodiscard]] std::string verdict(const rewrite::KernelState& state) const;
  // For comparing on something else than the interpreter.
  [[nodiscard]] Verifier& verifier() const { return *verifier_; }
  // For what the compiler says of a state's code.
  [[nodiscard]] Result<CompiledKernel> compile(const std::string& source) const;
  // Whether printing the unchanged IR gives the same PTX as the source.
  [[nodiscard]] bool round_trips() const;

 private:
  KernelCase() = default;
  Problem problem_;
  DeviceLimits limits_;
  rewrite::KernelState original_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Verifier> verifier_;
};

}  // namespace regraph::test
