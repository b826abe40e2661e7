// What expanders are told, and what asking them costs.
#include "search/driver.h"
#include "search/landscape.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

namespace regraph {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;

// Answers to each step in three variants: most add the step and another, some are refused. Writes
// down what it was told.
class Talkative final : public Expander {
 public:
  explicit Talkative(const World& world, std::uint64_t shuffle)
      : inner_(world), shuffle_(shuffle) {}

  std::vector<StepProposal> propose(const Candidate& candidate, const ExpansionContext& context,
                                    const Cancellation& cancellation) const override {
    EXPECT_TRUE(context.evaluation.correct());
    EXPECT_EQ(context.original_seconds > 0.0, World::set_of(candidate) != 0);
    auto proposals = inner_.propose(candidate, context, cancellation);
    for (StepProposal& proposal : proposals)
      proposal.variant_limit = 3;
    return proposals;
  }

  Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal, int variant,
                          const ExpansionContext& context,
                          const Cancellation& cancellation) const override {
    const std::uint32_t set = World::set_of(candidate);
    landscape::pause(shuffle_, set * 7 + static_cast<std::uint32_t>(variant), cancellation);
    std::string told;
    for (const FailedVariant& failure : context.failures)
      told += std::to_string(failure.variant) + failure.reason + failure.message + ";";
    for (const std::string& step : context.history)
      told += step + ">";
    if (context.example) {
      told += context.example->before->source + "->" + context.example->after->source;
      EXPECT_GT(context.example->log_gain, 0.0);
      EXPECT_EQ(context.example->from, context.history.empty() ? "init" : context.history.back());
      EXPECT_NE(context.example->before->source, candidate.source);
    }
    {
      const std::lock_guard lock(mutex_);
      told_[std::to_string(set) + " " + proposal.text() + " " + std::to_string(variant)] = told;
      failures_ += context.failures.size();
      examples_ += context.example ? 1 : 0;
    }
    const std::uint64_t draw =
        random_bits(set, hash_text(proposal.text()).low, static_cast<std::uint64_t>(variant));
    if (draw % 3 == 0) return fail(ErrorCode::refused, "prose " + std::to_string(draw % 100));
    const int step = std::stoi(proposal.step.substr(proposal.step.find('_') + 1));
    return World::candidate(set | (1U << step) | (1U << (draw % 12)));
  }

  [[nodiscard]] const std::map<std::string, std::string>& told() const { return told_; }
  [[nodiscard]] std::size_t failures() const { return failures_; }
  [[nodiscard]] std::size_t examples() const { return examples_; }

 private:
  WorldExpander inner_;
  std::uint64_t shuffle_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> told_;
  mutable std::size_t failures_ = 0;
  mutable std::size_t examples_ = 0;
};

struct Talk {
  SearchOutcome outcome;
  std::map<std::string, std::string> told;
  std::size_t failures = 0;
  std::size_t examples = 0;
};

Talk talk(const World& world, int jobs, std::uint64_t shuffle, int evaluations = 80) {
  SearchConfig config;
  config.budget.evaluations = evaluations;
  config.jobs = 1;
  config.extra_workers = jobs;
  config.window = 8;
  config.expansions_first = false;
  const Talkative expander(world, shuffle);
  WorldEvaluator evaluator(world, shuffle);
  const StepGraph graph = world.graph();
  auto outcome =
      run_search(World::candidate(0), expander, evaluator, graph, config, nullptr, Cancellation{});
  EXPECT_TRUE(outcome);
  return {std::move(*outcome), expander.told(), expander.failures(), expander.examples()};
}

TEST(ExpansionContext, TellsWhatFailedAndWhatPaid) {
  const World world(5, Shape{});
  const Talk once = talk(world, 4, 0, 200);
  EXPECT_GT(once.failures, 0U);
  EXPECT_GT(once.examples, 0U);
  bool refusal = false;
  bool verdict = false;
  for (const auto& [what, told] : once.told) {
    refusal = refusal || told.find("refusedprose ") != std::string::npos;
    verdict = verdict || told.find("wrong_resultout[0] differs") != std::string::npos;
  }
  EXPECT_TRUE(refusal);
  EXPECT_TRUE(verdict);
}

// So that the requests made of it are the same, and their answers can be replayed.
TEST(ExpansionContext, DoesNotDependOnTiming) {
  const World world(6, Shape{});
  const Talk reference = talk(world, 0, 0);
  for (const std::uint64_t shuffle : {1, 2, 3}) {
    const Talk other = talk(world, 7, shuffle);
    EXPECT_EQ(other.told, reference.told);
    EXPECT_EQ(test::transcript(other.outcome), test::transcript(reference.outcome));
  }
}

TEST(ExpansionContext, AskingForNothingCountsAsAnEvaluation) {
  const World world(5, Shape{});
  const SearchOutcome outcome = talk(world, 4, 0).outcome;
  EXPECT_EQ(outcome.stopped, StopReason::budget);
  EXPECT_LT(outcome.evaluations, 80);
  EXPECT_GT(outcome.failures.at("refused"), 0);
  EXPECT_EQ(outcome.expansions, 80);
}

}  // namespace
}  // namespace regraph
