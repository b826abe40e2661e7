// What expanders are told, and what asking them costs.
#include "base/files.h"
#include "regraph/regraph_yaml.h"
#include "search/driver.h"
#include "search/ending_journal.h"
#include "search/landscape.h"
#include "search/run_database.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

namespace regraph::expansion_context_test {
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
    for (const FailedVariant& failure : context.story.failures)
      told += std::to_string(failure.variant) + failure.reason + failure.message + ";";
    for (const std::string& step : context.history)
      told += step + ">";
    if (context.story.example) {
      told += context.story.example->before->source + "->" + context.story.example->after->source +
              context.story.example->kernel;
      EXPECT_GT(context.story.example->log_gain, 0.0);
      EXPECT_EQ(context.story.example->from,
                context.history.empty() ? "init" : context.history.back());
      EXPECT_NE(context.story.example->before->source, candidate.source);
    }
    {
      const std::lock_guard lock(mutex_);
      told_[std::to_string(set) + " " + proposal.text() + " " + std::to_string(variant)] = told;
      failures_ += context.story.failures.size();
      examples_ += context.story.example ? 1 : 0;
    }
    const std::uint64_t draw =
        random_bits(set, hash_text(proposal.text()).low, static_cast<std::uint64_t>(variant));
    if (draw % 3 == 0) return fail(ErrorCode::refused, "prose " + std::to_string(draw % 100));
    const int step = std::stoi(proposal.step.substr(proposal.step.find('_') + 1));
    return World::candidate(set | (1U << step) | (1U << (draw % 12)));
  }

  [[nodiscard]] bool wants_story() const override { return true; }

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

SearchConfig talking(int jobs, int evaluations) {
  SearchConfig config;
  config.budget.evaluations = evaluations;
  config.jobs = 1;
  config.extra_workers = jobs;
  config.window = 8;
  config.expansions_first = false;
  return config;
}

Talk talk(const World& world, int jobs, std::uint64_t shuffle, int evaluations = 80) {
  const SearchConfig config = talking(jobs, evaluations);
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

// The graph with an example of each transition.
StepGraph telling_graph(const World& world) {
  StepGraph graph = world.graph();
  for (const StepGraph::TransitionView& view : graph.transitions()) {
    TransitionExample example;
    example.before = "elsewhere before " + std::string(view.to);
    example.after = "elsewhere after " + std::string(view.to);
    example.log_gain = 0.5;
    example.name = "elsewhere";
    example.kernel = "k";
    example.family = "map";
    EXPECT_TRUE(graph.set_examples(view.from, view.to, {example}));
  }
  return graph;
}

TEST(ExpansionContext, TheGraphShowsWhatTheSearchHasNotSeen) {
  const World world(5, Shape{});
  const Talkative expander(world, 0);
  WorldEvaluator evaluator(world);
  const auto outcome = run_search(World::candidate(0), expander, evaluator, telling_graph(world),
                                  talking(4, 200), nullptr, Cancellation{});
  ASSERT_TRUE(outcome) << outcome.error().message;
  int brought = 0;
  int own = 0;
  for (const auto& [what, told] : expander.told()) {
    const bool original = what.starts_with("0 ");
    const bool elsewhere = told.find("elsewhere before") != std::string::npos;
    // The graph has transitions from the original alone, and there is no other state of these.
    EXPECT_EQ(elsewhere, original) << what << ": " << told;
    brought += elsewhere ? 1 : 0;
    own += !elsewhere && told.find("->") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(brought, 0);
  EXPECT_GT(own, 0);
}

// Whatever has become of the files that the graph came from.
TEST(ExpansionContext, AResumedRunIsToldTheSame) {
  const World world(5, Shape{});
  const auto directory = *TemporaryDirectory::create("regraph-context-test-");
  const auto search = [&](const StepGraph& graph, SearchJournal* journal) {
    const Talkative expander(world, 0);
    WorldEvaluator evaluator(world);
    static_cast<void>(run_search(World::candidate(0), expander, evaluator, graph, talking(4, 200),
                                 nullptr, Cancellation{}, journal));
    return expander.told();
  };
  const StepGraph graph = telling_graph(world);
  const auto reference = search(graph, nullptr);
  for (const int records : {0, 3, 20, 60}) {
    const auto path = directory.path() / std::to_string(records);
    std::filesystem::create_directory(path);
    RunDescription description;
    description.config = talking(4, 200);
    description.graph = regraph_text(graph);
    {
      const auto run = RunDatabase::create(path, description);
      ASSERT_TRUE(run) << run.error().message;
      test::EndsAfter ends(**run, records);
      static_cast<void>(search(graph, &ends));
    }
    const auto run = RunDatabase::open(path);
    ASSERT_TRUE(run) << run.error().message;
    const auto recorded = parse_regraph((*run)->description().graph, "recorded");
    ASSERT_TRUE(recorded) << recorded.error().message;
    const auto told = search(*recorded, run->get());
    EXPECT_FALSE(told.empty());
    for (const auto& [what, words] : told)
      EXPECT_EQ(words, reference.at(what)) << what << " after " << records;
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
}  // namespace regraph::expansion_context_test
