// What is said in a roundabout way gets the steps of its plain twin.
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/step_checks.h"
#include "source/printer.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::test {
namespace {

std::set<std::string> proposals(const KernelCase& kernel) {
  std::set<std::string> result;
  const rewrite::KernelAnalysis shared = kernel.analysis(kernel.original());
  for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
    for (const StepParameters& parameters : step->settings()) {
      const StepProposal proposal{std::string(step->id()), parameters, 1};
      if (step->match(shared, parameters)) result.insert(proposal.text());
    }
  }
  return result;
}

TEST(Forms, GetTheStepsOfTheirPlainTwins) {
  const std::string ending = "_plain";
  int pairs = 0;
  for (const SampleKernel& plain : idiom_kernels()) {
    if (!plain.name.ends_with(ending)) continue;
    const std::string name = plain.name.substr(0, plain.name.size() - ending.size());
    const auto kernel = sample(name);
    const auto twin = sample(plain.name);
    ASSERT_TRUE(kernel && twin);
    const std::set<std::string> expected = proposals(*twin);
    EXPECT_GE(expected.size(), 5u) << name;
    const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
    source::Unit unit = kernel->original().unit;
    unit.kernel = analysis.kernel();
    EXPECT_EQ(proposals(*kernel), expected) << name << source::print(unit);
    rewrite::KernelState state = kernel->original();
    state.unit = unit;
    EXPECT_EQ(kernel->verdict(state), "correct") << name;
    ++pairs;
  }
  EXPECT_GE(pairs, 10);
}

}  // namespace
}  // namespace regraph::test
