#include "regraph/composite_expander.h"

#include <gtest/gtest.h>

namespace regraph::composite_expander_test {
namespace {

// Offers one step and applies it by writing its own name into the source.
class OneStep : public Expander {
 public:
  OneStep(std::string step, std::string by) : step_(std::move(step)), by_(std::move(by)) {}

  std::vector<StepProposal> propose(const Candidate&, const ExpansionContext&,
                                    const Cancellation&) const override {
    StepProposal proposal;
    proposal.step = step_;
    if (!by_.empty()) proposal.parameters = {{kAppliedBy, by_}};
    return {proposal};
  }
  Result<Candidate> apply(const Candidate&, const StepProposal&, int, const ExpansionContext&,
                          const Cancellation&) const override {
    Candidate made;
    made.source = step_;
    return made;
  }
  bool owns(const StepProposal& proposal) const override {
    const auto found = proposal.parameters.find(kAppliedBy);
    return by_ == (found == proposal.parameters.end() ? "" : found->second);
  }
  bool repeatable(const StepProposal&) const override { return by_.empty(); }
  bool proposes_freely() const override { return by_.empty(); }
  Result<Candidate> restore(const Candidate& stored) const override {
    Candidate restored = stored;
    restored.source += by_;
    return restored;
  }
  double longest_seconds() const override { return by_.empty() ? 0.0 : 9.0; }

 private:
  std::string step_;
  std::string by_;
};

// Adds nothing where somebody offers something already, and says what it thinks of that.
class Critic final : public OneStep {
 public:
  Critic() : OneStep("loop_unroll", "critic") {}
  void add_proposals(const Candidate&, const ExpansionContext&,
                     std::vector<StepProposal>& proposals, const Cancellation&) const override {
    for (StepProposal& proposal : proposals)
      proposal.advice.opinions = 1;
  }
};

const Cancellation kNever;

TEST(CompositeExpander, MembersProposeInOrderAndApplyTheirOwn) {
  const OneStep rewriter("smem_pad", "");
  const OneStep model("loop_unroll", "model");
  const CompositeExpander both({&rewriter, &model});
  const auto proposals = both.propose({}, {}, kNever);
  ASSERT_EQ(proposals.size(), 2u);
  EXPECT_EQ(proposals[0].step, "smem_pad");
  EXPECT_EQ(proposals[1].step, "loop_unroll");
  for (const StepProposal& proposal : proposals) {
    const auto made = both.apply({}, proposal, 0, {}, kNever);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->source, proposal.step);
  }
  EXPECT_TRUE(both.repeatable(proposals[0]));
  EXPECT_FALSE(both.repeatable(proposals[1]));
  EXPECT_FALSE(both.proposes_freely());
  EXPECT_EQ(both.longest_seconds(), 9.0);
  EXPECT_EQ(both.restore({})->source, "model");
}

TEST(CompositeExpander, LaterMembersSeeWhatIsOffered) {
  const OneStep rewriter("smem_pad", "");
  const Critic critic;
  const auto proposals = CompositeExpander({&rewriter, &critic}).propose({}, {}, kNever);
  ASSERT_EQ(proposals.size(), 1u);
  EXPECT_EQ(proposals[0].advice.opinions, 1);
}

TEST(CompositeExpander, AProposalOfNobodyIsRefused) {
  const OneStep rewriter("smem_pad", "");
  const CompositeExpander alone({&rewriter});
  StepProposal foreign;
  foreign.step = "smem_pad";
  foreign.parameters = {{kAppliedBy, "somebody"}};
  EXPECT_FALSE(alone.owns(foreign));
  const auto made = alone.apply({}, foreign, 0, {}, kNever);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace regraph::composite_expander_test
