#include "policy/policy_scorer.h"

#include "policy/policy_case.h"

#include <gtest/gtest.h>

namespace regraph::policy::policy_scorer_test {
namespace {

constexpr const char* kPlain = "__global__ void f(float* a) { a[threadIdx.x] = 1.0f; }";
constexpr const char* kTiled =
    "__global__ void f(float* a) { __shared__ float t[32]; t[threadIdx.x] = 1.0f; "
    "a[threadIdx.x] = t[threadIdx.x]; }";

// Makes the kernel with a shared array of anything.
class Tiler final : public Expander {
 public:
  std::vector<StepProposal> propose(const Candidate&, const ExpansionContext&,
                                    const Cancellation&) const override {
    return {};
  }
  Result<Candidate> apply(const Candidate&, const StepProposal&, int, const ExpansionContext&,
                          const Cancellation&) const override {
    return test::candidate_of(kTiled, {.x = 32});
  }
};

//   correction = 2 (shared arrays after - before, as log2(1 + n)) + history.depth, log_gain = half
PolicyReader reader() {
  PolicyModel model;
  model.inputs = {"history.depth", "change.shared_arrays"};
  model.means = {0.0F, 0.0F};
  model.scales = {1.0F, 1.0F};
  DenseNetwork& network = model.networks.emplace_back(2, 1, kOpinionSize);
  network.first_weights = {1.0F, 2.0F};
  network.second_weights = {1.0F, 0.5F, 0.25F};
  auto made = PolicyReader::make(std::move(model));
  EXPECT_TRUE(made);
  return *std::move(made);
}

std::vector<StepProposal> two_proposals() {
  std::vector<StepProposal> proposals(2);
  proposals[0].step = "smem_tile";
  proposals[1].step = "smem_tile";
  proposals[1].parameters = {{kAppliedBy, "llm"}};
  return proposals;
}

TEST(PolicyScorer, GivesEachProposalItsOpinion) {
  const StepGraph graph;
  const Tiler tiler;
  const PolicyScorer scorer(reader(), "small 0123", graph, "h200", tiler);
  EXPECT_EQ(scorer.description(), "small 0123");
  ExpansionContext context;
  context.history = {"loop_unroll"};
  auto proposals = two_proposals();
  proposals[1].score.correction = 9.0;  // somebody else's
  scorer.score(test::candidate_of(kPlain, {.x = 32}), context, proposals);
  ASSERT_EQ(proposals.size(), 2U);
  EXPECT_EQ(proposals[0].score.correction, 3.0);
  EXPECT_EQ(proposals[0].score.expected_log_gain, 1.5);
  // What a language model would make of it is not known.
  EXPECT_EQ(proposals[1].score.correction, 1.0);
  EXPECT_EQ(proposals[1].score.expected_log_gain, 0.5);
}

TEST(PolicyScorer, SaysTheSameOfWhatItHasScored) {
  const StepGraph graph;
  const Tiler tiler;
  const PolicyScorer scorer(reader(), "small", graph, "h200", tiler);
  const Candidate candidate = test::candidate_of(kPlain, {.x = 32});
  auto once = two_proposals();
  scorer.score(candidate, {}, once);
  auto twice = once;
  scorer.score(candidate, {}, twice);
  EXPECT_EQ(once, twice);
  std::vector<StepProposal> none;
  scorer.score(candidate, {}, none);
  EXPECT_TRUE(none.empty());
}

TEST(PolicyScorer, SpeaksOfCodeThatItCannotRead) {
  const StepGraph graph;
  const Tiler tiler;
  const PolicyScorer scorer(reader(), "small", graph, "h200", tiler);
  ExpansionContext context;
  context.history = {"loop_unroll", "loop_unroll"};
  auto proposals = two_proposals();
  scorer.score({}, context, proposals);
  EXPECT_EQ(proposals[0].score.correction, 2.0);
  EXPECT_EQ(proposals[1].score.correction, 2.0);
}

}  // namespace
}  // namespace regraph::policy::policy_scorer_test
