// Property: whatever the steps do one after another, the kernel still computes the same.
#include "base/random.h"
#include "rewrite/ast_rewriter.h"
#include "rewrite/kernel_case.h"
#include "rewrite/sample_kernels.h"
#include "source/analysis.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <set>

namespace regraph::test {
namespace {

constexpr std::uint64_t kSeed = 20;
constexpr int kLongestSequence = 5;
// In CI; REGRAPH_REWRITE_SEQUENCES asks for more.
constexpr int kSequencesPerKernel = 2;

struct Tally {
  int applied = 0;
  int offered = 0;
  std::map<std::string, int> refused;  // by reason
};

int sequences_per_kernel() {
  const char* wanted = std::getenv("REGRAPH_REWRITE_SEQUENCES");
  return wanted != nullptr ? std::atoi(wanted) : kSequencesPerKernel;
}

// The reason without what is particular to a kernel: names in quotes, numbers, lines.
std::string general(const std::string& reason) {
  std::string result;
  bool quoted = false;
  for (const char character : reason) {
    const bool opens = result.empty() || result.back() == ' ' || result.back() == '(';
    if (character == '\'' && (quoted || opens)) {
      quoted = !quoted;
      if (quoted) result += "'...'";
      continue;
    }
    const bool repeats = std::isdigit(static_cast<unsigned char>(character)) != 0 &&
                         !result.empty() && result.back() == '#';
    if (quoted || repeats) continue;
    result += std::isdigit(static_cast<unsigned char>(character)) != 0 ? '#' : character;
  }
  constexpr std::size_t kLongestReason = 100;
  return result.substr(0, kLongestReason);
}

void print_tally(const std::string& step, const Tally& counts, bool with_reasons) {
  std::map<std::string, int> reasons;
  int refused = 0;
  for (const auto& [reason, count] : counts.refused) {
    refused += count;
    reasons[general(reason)] += count;
  }
  std::cout << "  " << step << ": applied " << counts.applied << ", refused " << refused << " for "
            << reasons.size() << " kinds of reason\n";
  if (!with_reasons) return;
  std::multimap<int, std::string, std::greater<>> by_count;
  for (const auto& [reason, count] : reasons)
    by_count.emplace(count, reason);
  for (const auto& [count, reason] : by_count)
    std::cout << "    " << count << "  " << reason << "\n";
}

// The choices of all steps that apply to the state; refusals are counted.
std::vector<std::pair<StepProposal, rewrite::KernelState>> successors(
    const KernelCase& kernel, const rewrite::KernelState& state,
    std::map<std::string, Tally>& tally) {
  std::vector<std::pair<StepProposal, rewrite::KernelState>> result;
  const rewrite::KernelAnalysis shared = kernel.analysis(state);
  for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
    for (const StepParameters& parameters : step->settings()) {
      const Status match = step->match(shared, parameters);
      // On an analysis of its own: what steps share must not depend on who asked first.
      auto next = step->apply(kernel.analysis(state), parameters);
      EXPECT_EQ(match.ok(), next.ok()) << step->id();
      if (!match && !next) {
        EXPECT_EQ(match.error().code, next.error().code) << step->id();
        EXPECT_EQ(match.error().message, next.error().message) << step->id();
      }
      if (next) {
        ++tally[std::string(step->id())].offered;
        result.emplace_back(StepProposal{std::string(step->id()), parameters, 1}, std::move(*next));
      } else {
        EXPECT_EQ(next.error().code, ErrorCode::refused) << next.error().message;
        ++tally[std::string(step->id())].refused[next.error().message];
      }
    }
  }
  return result;
}

// A step chosen evenly among step kinds first, so that many parameter choices do not crowd out
// others.
const std::pair<StepProposal, rewrite::KernelState>& choose(
    const std::vector<std::pair<StepProposal, rewrite::KernelState>>& options, std::uint64_t bits) {
  std::vector<std::string> kinds;
  for (const auto& [proposal, state] : options) {
    if (kinds.empty() || kinds.back() != proposal.step) kinds.push_back(proposal.step);
  }
  const std::string& kind = kinds[bits % kinds.size()];
  std::vector<const std::pair<StepProposal, rewrite::KernelState>*> matching;
  for (const auto& option : options) {
    if (option.first.step == kind) matching.push_back(&option);
  }
  return *matching[(bits >> 20) % matching.size()];
}

TEST(StepSequences, KeepTheResult) {
  std::map<std::string, Tally> tally;
  int sequences = 0;
  int slow = 0;
  std::uint64_t kernel_number = 0;
  const char* wanted = std::getenv("REGRAPH_REWRITE_KERNEL");
  for (const SampleKernel& sample : sample_kernels()) {
    ++kernel_number;
    if (wanted != nullptr && sample.name.find(wanted) == std::string::npos) continue;
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    for (int sequence = 0; sequence < sequences_per_kernel(); ++sequence) {
      const auto number = static_cast<std::uint64_t>(sequence);
      const auto length =
          1 + static_cast<int>(random_bits(kSeed, kernel_number, number, 0u) % kLongestSequence);
      rewrite::KernelState state = (*kernel)->original();
      std::string history = sample.name;
      for (int position = 1; position <= length; ++position) {
        const auto options = successors(**kernel, state, tally);
        if (options.empty()) break;
        const auto& [proposal, next] =
            choose(options, random_bits(kSeed, kernel_number, number, position));
        ++tally[proposal.step].applied;
        history += " | " + proposal.text();
        // `options` owns `next` and `state` is replaced by it.
        rewrite::KernelState copy = next;
        state = std::move(copy);
      }
      ++sequences;
      const std::string verdict = (*kernel)->verdict(state);
      // Slow is not wrong: blocks that are far too large for a test size do nothing most of the
      // time, and copies of copies in unrolled loops may be more than the compiler is given time
      // for.
      const bool is_slow = verdict.starts_with("timeout") ||
                           verdict.starts_with("compile_error: the CUDA compiler was stopped");
      slow += is_slow ? 1 : 0;
      if (!is_slow) {
        EXPECT_EQ(verdict, "correct") << history;
      }
    }
  }
  if (wanted != nullptr) return;
  EXPECT_GE(sequences, 60);
  EXPECT_LT(slow, sequences / 20);
  std::cout << "sequences: " << sequences << ", too slow to tell: " << slow << "\n";
  const bool is_long_run = std::getenv("REGRAPH_REWRITE_SEQUENCES") != nullptr;
  for (const auto& [step, counts] : tally) {
    print_tally(step, counts, is_long_run);
    EXPECT_GT(counts.offered, 0) << step << " never applied: the kernels do not exercise it";
  }
}

TEST(StepSequences, NothingInTheKernelsIsOpaque) {
  for (const SampleKernel& sample : sample_kernels()) {
    auto kernel = KernelCase::make(sample.source, sample.manifest);
    ASSERT_TRUE(kernel.ok()) << sample.name << ": " << kernel.error().message;
    const auto opaque = source::Analysis((*kernel)->original().unit.kernel).opaque();
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
}  // namespace regraph::test
