#include "regraph/fixed_path_expander.h"

#include "regraph/step_list.h"

#include <gtest/gtest.h>

namespace regraph::fixed_path_expander_test {
namespace {

// Writes what it is asked to apply into the source.
class Scribe final : public Expander {
 public:
  std::vector<StepProposal> propose(const Candidate&, const ExpansionContext&,
                                    const Cancellation&) const override {
    return {StepProposal{"of_its_own", {}, 1}};
  }
  Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal, int variant,
                          const ExpansionContext&, const Cancellation&) const override {
    if (proposal.step == "impossible") return fail(ErrorCode::refused, "not here");
    Candidate made = candidate;
    made.source += proposal.text() + '#' + std::to_string(variant) + ' ';
    return made;
  }
  bool repeatable(const StepProposal& proposal) const override { return proposal.step != "random"; }
  bool wants_story() const override { return true; }
  Result<Candidate> restore(const Candidate& stored) const override {
    Candidate restored = stored;
    restored.source += "restored";
    return restored;
  }
  double longest_seconds() const override { return 7.0; }
};

const Cancellation kNever;

std::vector<StepProposal> path(const char* text) {
  auto steps = parse_step_list(text);
  EXPECT_TRUE(steps.ok()) << steps.error().message;
  return steps.ok() ? *steps : std::vector<StepProposal>{};
}

std::vector<StepProposal> offered(const Expander& expander, std::vector<std::string> history) {
  ExpansionContext context;
  context.history = std::move(history);
  return expander.propose({}, context, kNever);
}

TEST(FixedPathExpander, OffersTheNextStepOfThePathAlone) {
  const Scribe scribe;
  const FixedPathExpander way(scribe, path("first(a=1); second; second(b=2)"));
  const auto begin = offered(way, {});
  ASSERT_EQ(begin.size(), 1U);
  EXPECT_EQ(begin[0].text(), "first(a=1)");
  EXPECT_EQ(offered(way, {"first"}).at(0).text(), "second");
  EXPECT_EQ(offered(way, {"first", "second"}).at(0).text(), "second(b=2)");
}

TEST(FixedPathExpander, OffersNothingAtTheEndOrBesideThePath) {
  const Scribe scribe;
  const FixedPathExpander way(scribe, path("first; second"));
  EXPECT_TRUE(offered(way, {"first", "second"}).empty());
  EXPECT_TRUE(offered(way, {"first", "second", "third"}).empty());
  EXPECT_TRUE(offered(way, {"second"}).empty());
  const FixedPathExpander nowhere(scribe, {});
  EXPECT_TRUE(offered(nowhere, {}).empty());
}

TEST(FixedPathExpander, LeavesTheRestToTheOther) {
  const Scribe scribe;
  const FixedPathExpander way(scribe, path("first; impossible"));
  const auto made = way.apply({}, {"first", {}, 1}, 3, {}, kNever);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->source, "first#3 ");
  const auto refused = way.apply({}, {"impossible", {}, 1}, 0, {}, kNever);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "not here");
  EXPECT_TRUE(way.repeatable({"first", {}, 1}));
  EXPECT_FALSE(way.repeatable({"random", {}, 1}));
  EXPECT_TRUE(way.wants_story());
  EXPECT_EQ(way.restore({})->source, "restored");
  EXPECT_EQ(way.longest_seconds(), 7.0);
}

}  // namespace
}  // namespace regraph::fixed_path_expander_test
