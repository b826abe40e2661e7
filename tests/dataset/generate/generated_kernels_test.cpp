// Kernels of every family in real sessions: what the generator writes is of use only where it
// opens, can be rewritten, and has steps that apply.
#include "base/files.h"
#include "dataset/generate/generator.h"
#include "eval/model/device.h"
#include "rewrite/ast_rewriter.h"
#include "session/opened_problem.h"
#include "session/session.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>

namespace regraph::dataset::generated_kernels_test {
namespace {

constexpr std::uint64_t kKernels = 3;
constexpr std::size_t kStepsOnAverage = 3;

class GeneratedFamily : public ::testing::TestWithParam<std::string> {
 protected:
  GeneratedFamily() : directory_(*TemporaryDirectory::create("regraph-generated-")) {
    installation_.cache_directory = directory_.path() / "cache";
  }

  // Steps that are proposed for the kernel; none where it cannot be worked on.
  [[nodiscard]] std::set<std::string> steps_of(const GeneratedKernel& kernel) const {
    const std::string stem = (directory_.path() / kernel.name).string();
    EXPECT_TRUE(write_file(stem + ".cu", kernel.source));
    EXPECT_TRUE(write_file(stem + ".regraph.yaml", kernel.manifest));
    SessionOptions options;
    options.problem.kernel_file = stem + ".cu";
    options.device = "h200";
    options.evaluator = "model";
    const Cancellation never;
    // The original is verified at all test sizes, or the session does not open.
    const auto session = Session::open(options, installation_, never);
    EXPECT_TRUE(session) << session.error().message << "\n" << kernel.source << kernel.manifest;
    if (!session) return {};
    const OpenedProblem& opened = (*session)->opened();
    EXPECT_TRUE(opened.rewritable) << opened.opaque_reason << "\n" << kernel.source;
    const rewrite::AstRewriter rewriter((*session)->problem(), limits_of((*session)->device()));
    std::set<std::string> steps;
    for (const StepProposal& proposal : rewriter.propose((*session)->original(), {}, never))
      steps.insert(proposal.step);
    return steps;
  }

 private:
  Installation installation_ = Installation::of_program(REGRAPH_PROGRAMS);
  TemporaryDirectory directory_;
};

TEST_P(GeneratedFamily, OpensAndHasSteps) {
  std::size_t steps = 0;
  for (std::uint64_t index = 0; index < kKernels; ++index) {
    const auto kernel = generate_kernel(GetParam(), 1, index);
    ASSERT_TRUE(kernel) << kernel.error().message;
    steps += steps_of(*kernel).size();
  }
  EXPECT_GE(steps, kStepsOnAverage * kKernels);
}

INSTANTIATE_TEST_SUITE_P(Families, GeneratedFamily, ::testing::ValuesIn(generator_families()),
                         [](const auto& family) { return family.param; });

}  // namespace
}  // namespace regraph::dataset::generated_kernels_test
