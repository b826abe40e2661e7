// Property: whatever the steps do one after another, the kernel still computes the same on a GPU.
#include "gpu/gpu_judge.h"
#include "rewrite/random_sequences.h"
#include "rewrite/sample_kernels.h"
#include "source/printer.h"

#include <cstdlib>
#include <iostream>

namespace regraph::test {
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
                          kFirst + static_cast<std::uint64_t>(number), tallies);
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
          judge.judge((*kernel)->problem(), (*kernel)->verifier(), *compiled, sequence.state.plan);
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

}  // namespace
}  // namespace regraph::test
