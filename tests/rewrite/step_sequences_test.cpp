// Property: whatever the steps do one after another, the kernel still computes the same.
#include "rewrite/random_sequences.h"
#include "rewrite/sample_kernels.h"
#include "source/analysis.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

namespace regraph::test::step_sequences_test {
namespace {

// In CI; REGRAPH_REWRITE_SEQUENCES asks for more. With REGRAPH_REWRITE_RECORD=FILE what they are is
// written there, and not judged.
constexpr int kSequencesPerKernel = 2;

TEST(StepSequences, KeepTheResult) {
  StepTallies tallies;
  int sequences = 0;
  int slow = 0;
  std::uint64_t kernel_number = 0;
  const char* const record = std::getenv("REGRAPH_REWRITE_RECORD");
  std::ofstream recorded;
  if (record != nullptr) {
    recorded.open(record);
    ASSERT_TRUE(recorded.is_open()) << record;
  }
  for (const SampleKernel& sample : sample_kernels()) {
    ++kernel_number;
    if (!kernel_is_wanted(sample.name, kernel_number)) continue;
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    for (int number = 0; number < sequences_per_kernel(kSequencesPerKernel); ++number) {
      const RandomSequence sequence =
          random_sequence(**kernel, sample.name, kernel_number,
                          first_sequence() + static_cast<std::uint64_t>(number), tallies);
      ++sequences;
      if (record != nullptr) {
        recorded << "=== " << kernel_number << " "
                 << first_sequence() + static_cast<std::uint64_t>(number) << " "
                 << record_of(sequence) << "\n";
        continue;
      }
      const std::string verdict = (*kernel)->verdict(sequence.state);
      // Slow is not wrong: blocks that are far too large for a test size do nothing most of the
      // time, and copies of copies in unrolled loops may be more than the compiler is given time
      // for.
      const bool is_slow = verdict.starts_with("timeout") ||
                           verdict.starts_with("compile_error: the CUDA compiler was stopped");
      slow += is_slow ? 1 : 0;
      if (!is_slow) {
        EXPECT_EQ(verdict, "correct") << sequence.history;
      }
    }
  }
  std::cout << "sequences: " << sequences << ", too slow to tell: " << slow << "\n";
  print_tallies(tallies, std::getenv("REGRAPH_REWRITE_SEQUENCES") != nullptr);
  if (some_kernels_are_left_out()) return;
  EXPECT_GE(sequences, 60);
  EXPECT_LT(slow, sequences / 20);
  for (const auto& [step, counts] : tallies)
    EXPECT_GT(counts.offered, 0) << step << " never applied: the kernels do not exercise it";
}

TEST(StepSequences, NothingInTheKernelsIsOpaque) {
  for (const SampleKernel& sample : sample_kernels()) {
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    // What steps read: calls that have a body are opened.
    const auto opaque = source::Analysis((*kernel)->original().unit.opened_kernel()).opaque();
    EXPECT_FALSE(opaque) << sample.name << ", " << *opaque;
  }
}

TEST(StepSequences, UnchangedKernelsPrintToTheSameCode) {
  for (const SampleKernel& sample : sample_kernels()) {
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    EXPECT_TRUE((*kernel)->round_trips()) << sample.name;
  }
}

}  // namespace
}  // namespace regraph::test::step_sequences_test
