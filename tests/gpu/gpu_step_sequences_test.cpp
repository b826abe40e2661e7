// Property: whatever the steps do one after another, the kernel still computes the same on a GPU.
#include "gpu/gpu_judge.h"
#include "rewrite/random_sequences.h"
#include "rewrite/sample_kernels.h"
#include "rewrite/step_checks.h"
#include "source/printer.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace regraph::test::gpu_step_sequences_test {
namespace {

// Every kernel once; REGRAPH_REWRITE_SEQUENCES asks for more.
constexpr int kSequencesPerKernel = 1;

class GpuStepSequences : public GpuTest {};

TEST_F(GpuStepSequences, KeepTheResult) {
  StepTallies tallies;
  GpuJudge judge;
  int sequences = 0;
  int slow = 0;
  int large = 0;  // blocks of more registers than a multiprocessor has
  std::uint64_t kernel_number = 0;
  for (const SampleKernel& sample : sample_kernels()) {
    ++kernel_number;
    if (!kernel_is_wanted(sample.name, kernel_number)) continue;
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    for (int number = 0; number < sequences_per_kernel(kSequencesPerKernel); ++number) {
      // Not those that the interpreter is shown.
      constexpr std::uint64_t kFirst = 1000;
      const RandomSequence sequence =
          random_sequence(**kernel, sample.name, kernel_number,
                          kFirst + first_sequence() + static_cast<std::uint64_t>(number), tallies);
      ++sequences;
      CompileRequest request;
      request.source = source::print(sequence.state.unit);
      request.kernel = (*kernel)->problem().signature.name;
      request.architecture = machine().device().architecture;
      const auto compiled = machine().compiler().compile(request, machine().never());
      if (!compiled) {
        const bool is_slow = compiled.error().message.starts_with("the CUDA compiler was stopped");
        slow += is_slow ? 1 : 0;
        EXPECT_TRUE(is_slow) << sequence.history << "\n" << compiled.error().message;
        continue;
      }
      const VerificationResult result =
          judge.judge((*kernel)->verifier(), *compiled, sequence.state.plan);
      // A search's evaluator says so before a GPU is asked; here nobody counted the registers.
      const bool is_large = result.verdict == Verdict::launch_error &&
                            result.message.find("OUT_OF_RESOURCES") != std::string::npos;
      large += is_large ? 1 : 0;
      EXPECT_TRUE(result.correct() || is_large)
          << sequence.history << "\n"
          << name(result.verdict) << ": " << result.message << "\n"
          << request.source << "\n"
          << sequence.state.plan.text();
    }
  }
  std::cout << "sequences on the GPU: " << sequences << ", too slow to compile: " << slow + large
            << ", of these too large to launch: " << large << "\n";
  print_tallies(tallies, false);
}

// What the kernel computes on a GPU after the steps, compared with what it was on the interpreter.
std::string on_gpu(const KernelCase& kernel, const std::vector<Application>& steps) {
  rewrite::KernelState state = kernel.original();
  for (const Application& step : steps) {
    auto next = kernel.apply(state, step.step, step.parameters);
    if (!next) return step.step + ": " + next.error().message;
    state = std::move(*next);
  }
  CompileRequest request;
  request.source = source::print(state.unit);
  request.kernel = kernel.problem().signature.name;
  request.architecture = GpuMachine::instance().device().architecture;
  const auto compiled =
      GpuMachine::instance().compiler().compile(request, GpuMachine::instance().never());
  if (!compiled) return compiled.error().message;
  const VerificationResult result = GpuJudge().judge(kernel.verifier(), *compiled, state.plan);
  return result.correct() ? "correct" : result.message + "\n" + request.source;
}

TEST_F(GpuStepSequences, InfiniteFactorsStayWhereTheyWere) {
  const auto kernel = sample("infinite_tap");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(on_gpu(*kernel, {}), "correct");
  EXPECT_EQ(
      on_gpu(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "8"}, {"order", "grouped"}}},
                       {"branch_hoist", {{"form", "split"}}},
                       {"launch_bounds", {{"min_blocks", "2"}}},
                       {"scalar_replacement", {{"rows", "all"}}},
                       {"window_tile", {{"depth", "all"}}}}),
      "correct");
}

}  // namespace
}  // namespace regraph::test::gpu_step_sequences_test
