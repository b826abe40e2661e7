#include "learn/graph_training.h"

#include "fuzz/mutate.h"
#include "learn/examples.h"
#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace regraph::learn::graph_training_test {
namespace {

using examples::failed;
using examples::observation;
using examples::random_table;
using examples::small_graph;

ObservationTable table_of(const std::vector<ObservationRow>& rows) {
  ObservationTable table;
  for (const ObservationRow& row : rows)
    table.add(row);
  return table;
}

// What was learned of "tile" on the H200, predicted.
GainStatistics of_tile(const std::vector<ObservationRow>& rows) {
  const StepGraph graph = train_graph(small_graph(), table_of(rows));
  const auto& predicted = graph.find("tile")->learned.predicted;
  const auto known = predicted.find("h200");
  return known == predicted.end() ? GainStatistics{} : known->second;
}

TEST(GraphTraining, AFamilyHasOneVote) {
  std::vector<ObservationRow> rows = {observation("sum", "other", "s", "tile", 1000)};
  for (int kernel = 0; kernel < 10; ++kernel)
    rows.push_back(observation("map", "k" + std::to_string(kernel), "s", "tile", 200));
  const GainStatistics tile = of_tile(rows);
  EXPECT_EQ(tile.families, 2);
  EXPECT_EQ(tile.kernels, 11);
  EXPECT_EQ(tile.observations, 11);
  EXPECT_EQ(tile.tries, 11);
  EXPECT_DOUBLE_EQ(tile.sum_positive, (1000 + 200) * kScoreUnit);
  EXPECT_DOUBLE_EQ(tile.sum_log_gain, (1000 + 10 * 200) * kScoreUnit);
}

TEST(GraphTraining, AVoteIsTheMeanOverKernelsOfMeansOverStates) {
  const GainStatistics tile = of_tile({observation("map", "k1", "s1", "tile", 100),
                                       observation("map", "k1", "s2", "tile", 300),
                                       observation("map", "k2", "s3", "tile", 400)});
  EXPECT_EQ(tile.families, 1);
  EXPECT_EQ(tile.kernels, 2);
  EXPECT_EQ(tile.observations, 3);
  EXPECT_DOUBLE_EQ(tile.sum_positive, 300 * kScoreUnit);  // ((100 + 300) / 2 + 400) / 2
  // A state of another kernel is another state, even if they are called the same.
  const GainStatistics alike = of_tile(
      {observation("map", "k1", "s", "tile", 100), observation("map", "k2", "s", "tile", 300)});
  EXPECT_EQ(alike.observations, 2);
  EXPECT_DOUBLE_EQ(alike.sum_positive, 200 * kScoreUnit);
}

TEST(GraphTraining, MeansAreRoundedToAFineUnit) {
  const GainStatistics tile = of_tile({observation("map", "k", "s1", "tile", 100),
                                       observation("map", "k", "s2", "tile", 100),
                                       observation("map", "k", "s3", "tile", 101)});
  EXPECT_EQ(tile.sum_positive, std::ldexp(205483.0, -22));  // 301 * 2^11 / 3 = 205482.67
}

TEST(GraphTraining, TheBestSettingOfAStateCountsOnce) {
  std::vector<ObservationRow> rows;
  for (const FixedScore gain : {-50, 300, 100}) {
    rows.push_back(observation("map", "k", "s", "tile", gain));
    rows.back().setting = "factor=" + std::to_string(gain);
  }
  rows.push_back(rows[2]);
  rows.back().run = "another run of the same search";
  const GainStatistics tile = of_tile(rows);
  EXPECT_EQ(tile.observations, 1);
  EXPECT_EQ(tile.tries, 4);
  EXPECT_EQ(tile.verified, 4);
  EXPECT_DOUBLE_EQ(tile.sum_positive, 300 * kScoreUnit);
  EXPECT_DOUBLE_EQ(tile.sum_log_gain, 450 * kScoreUnit);
}

TEST(GraphTraining, LosingCountsAsNothing) {
  const GainStatistics tile = of_tile(
      {observation("map", "k1", "s", "tile", -500), observation("map", "k2", "s", "tile", 200)});
  EXPECT_DOUBLE_EQ(tile.sum_positive, 100 * kScoreUnit);
  EXPECT_DOUBLE_EQ(tile.sum_log_gain, -300 * kScoreUnit);
}

TEST(GraphTraining, FailuresCountAsNothingAndLowerTheChanceOfSuccess) {
  const ObservationRow good = observation("map", "k", "s1", "tile", 400);
  const ObservationRow other = observation("map", "k", "s2", "tile", 0);
  const GainStatistics tile = of_tile({good, failed(other, "wrong_result")});
  EXPECT_EQ(tile.tries, 2);
  EXPECT_EQ(tile.verified, 1);
  EXPECT_EQ(tile.observations, 2);
  EXPECT_DOUBLE_EQ(tile.sum_positive, 200 * kScoreUnit);
  const auto success = [](const ObservationTable& table) {
    return train_graph(small_graph(), table)
        .expectation("tile", true, {}, {}, {"h200", TimeMethod::predicted})
        .success;
  };
  EXPECT_LT(success(table_of({good, failed(other, "wrong_result")})),
            success(table_of({good, other})));
}

TEST(GraphTraining, PredictedAndMeasuredGainsStayApart) {
  ObservationRow measured = observation("map", "k", "s", "tile", 700);
  measured.method = "measured";
  const StepGraph graph =
      train_graph(small_graph(), table_of({observation("map", "k", "s", "tile", 100), measured}));
  const LearnedGains& learned = graph.find("tile")->learned;
  ASSERT_EQ(learned.predicted.size(), 1U);
  ASSERT_EQ(learned.measured.size(), 1U);
  EXPECT_DOUBLE_EQ(learned.predicted.at("h200").sum_positive, 100 * kScoreUnit);
  EXPECT_DOUBLE_EQ(learned.measured.at("h200").sum_positive, 700 * kScoreUnit);
}

TEST(GraphTraining, DevicesStayApart) {
  ObservationRow elsewhere = observation("map", "k", "s", "tile", 700);
  elsewhere.device = "a100";
  const StepGraph graph =
      train_graph(small_graph(), table_of({observation("map", "k", "s", "tile", 100), elsewhere}));
  const LearnedGains& learned = graph.find("tile")->learned;
  ASSERT_EQ(learned.predicted.size(), 2U);
  EXPECT_DOUBLE_EQ(learned.predicted.at("h200").sum_positive, 100 * kScoreUnit);
  EXPECT_DOUBLE_EQ(learned.predicted.at("a100").sum_positive, 700 * kScoreUnit);
}

TEST(GraphTraining, TransitionsLearnWhatCameBefore) {
  ObservationRow after = observation("map", "k", "s2", "tile", 300);
  after.from = "swap";
  const ObservationTable table = table_of({observation("map", "k", "s1", "tile", 100), after});
  const StepGraph graph = train_graph(small_graph(), table);
  EXPECT_DOUBLE_EQ(graph.find("tile")->learned.predicted.at("h200").sum_positive, 200 * kScoreUnit);
  const Transition* known = graph.transition("swap", "tile");
  EXPECT_TRUE(known->published());
  EXPECT_DOUBLE_EQ(known->expected_speedup, 1.5);
  EXPECT_DOUBLE_EQ(known->learned.predicted.at("h200").sum_positive, 300 * kScoreUnit);
  const Transition* unpublished = graph.transition("init", "tile");
  ASSERT_NE(unpublished, nullptr);
  EXPECT_FALSE(unpublished->published());
  EXPECT_DOUBLE_EQ(unpublished->learned.predicted.at("h200").sum_positive, 100 * kScoreUnit);
  EXPECT_TRUE(graph.transition("init", "swap")->learned.empty());
  EXPECT_EQ(graph.learned_from(), table.name());
}

TEST(GraphTraining, UnknownStepsBecomeCandidates) {
  ObservationRow after = observation("map", "k", "s2", "tile", 300);
  after.from = "Fuse \"all\"\nloops";
  const StepGraph graph = train_graph(
      small_graph(),
      table_of({observation("map", "k", "s1", after.from, 100), after,
                observation("map", "k", "s1", "TILE", 100),     // another name of a known one
                observation("map", "k", "s1", "init", 100)}));  // no step at all
  EXPECT_EQ(graph.steps().size(), 3U);
  const Step* candidate = graph.find(after.from);
  ASSERT_NE(candidate, nullptr);
  EXPECT_TRUE(candidate->candidate);
  EXPECT_FALSE(candidate->rewriter);
  EXPECT_DOUBLE_EQ(candidate->learned.predicted.at("h200").sum_positive, 100 * kScoreUnit);
  EXPECT_NE(graph.transition(after.from, "tile"), nullptr);
  const auto again = parse_regraph(regraph_text(graph), "g.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == graph);
}

// What a model said of a step that it made up goes into the graph with it.
TEST(GraphTraining, CandidatesAreDescribedInTheWordsOfWhoeverNamedThem) {
  ObservationRow bare = observation("map", "k", "s1", "lane_wavefront", 100);
  ObservationRow worded = observation("map", "k", "s2", "lane_wavefront", 200);
  worded.title = "Lane wavefront";
  worded.instruction = "Give each lane a column\tand shift the diagonal by a shuffle.";
  const ObservationTable table = table_of({bare, worded});
  const auto read = ObservationTable::parse(table.text(), "t.tsv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->text(), table.text());
  const StepGraph graph = train_graph(small_graph(), *read);
  const Step* step = graph.find("lane_wavefront");
  ASSERT_NE(step, nullptr);
  EXPECT_TRUE(step->candidate);
  EXPECT_EQ(step->name, "Lane wavefront");
  EXPECT_EQ(step->instruction, worded.instruction);
}

TEST(GraphTraining, WhatIsPublishedComesBackFromATrainedGraph) {
  std::mt19937_64 random(11);
  const StepGraph graph = small_graph();
  EXPECT_TRUE(train_graph(graph, {}) == graph);
  const StepGraph trained = train_graph(graph, random_table(random, 200));
  EXPECT_FALSE(trained == graph);
  EXPECT_TRUE(trained.published() == graph);
  EXPECT_EQ(regraph_text(trained.published()), regraph_text(graph));
  // What was learned before is forgotten, not added to.
  const ObservationTable table = random_table(random, 50);
  EXPECT_TRUE(train_graph(trained, table) == train_graph(graph, table));
}

TEST(GraphTraining, OrderOfRowsAndTablesDoesNotMatter) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 20; ++round) {
    std::vector<ObservationRow> rows;
    for (int row = 0; row < 100; ++row)
      rows.push_back(examples::random_observation(random));
    const std::string bytes = regraph_text(train_graph(small_graph(), table_of(rows)));
    std::ranges::shuffle(rows, random);
    EXPECT_EQ(regraph_text(train_graph(small_graph(), table_of(rows))), bytes);
    ObservationTable merged = table_of({rows.begin() + 30, rows.end()});
    merged.merge(table_of({rows.begin(), rows.begin() + 60}));
    EXPECT_EQ(regraph_text(train_graph(small_graph(), merged)), bytes);
    const auto read = ObservationTable::parse(merged.text(), "t.tsv");
    ASSERT_TRUE(read);
    EXPECT_EQ(regraph_text(train_graph(small_graph(), *read)), bytes);
    const auto graph = parse_regraph(bytes, "g.yaml");
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(regraph_text(*graph), bytes);
  }
}

// Whatever a table says that can be read, its graph can be written and read.
TEST(GraphTraining, DamagedTablesGiveSoundGraphs) {
  std::mt19937_64 random(17);
  const std::string_view words[] = {"\t", "\n", "\\n", "131072", "-131072", "\\t", "init", "\xff"};
  for (int round = 0; round < 2000; ++round) {
    std::string text = random_table(random, 5).text();
    fuzz::damage(text, random, words);
    const auto table = ObservationTable::parse(text, "t.tsv");
    if (!table) continue;
    const StepGraph graph = train_graph(small_graph(), *table);
    for (const Step* step : graph.steps()) {
      for (const TimeMethod method : {TimeMethod::predicted, TimeMethod::measured}) {
        for (const auto& [device, statistics] : step->learned.by(method))
          EXPECT_EQ(statistics.nonsense(), "");
      }
    }
  }
}

TEST(GainStatistics, SaysWhatCannotBe) {
  const GainStatistics good{2, 3, 5, 0.5, 9, 7, -0.25};
  EXPECT_EQ(good.nonsense(), "");
  EXPECT_EQ(GainStatistics{}.nonsense(), "");
  const auto changed = [&](auto member, auto value) {
    GainStatistics bad = good;
    bad.*member = value;
    return bad.nonsense();
  };
  using S = GainStatistics;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(changed(&S::verified, -1), "a count is negative");
  EXPECT_EQ(changed(&S::families, -1), "a count is negative");
  for (const std::string& wrong : {changed(&S::families, 4), changed(&S::kernels, 6),
                                   changed(&S::observations, 10), changed(&S::tries, 4)})
    EXPECT_TRUE(wrong.starts_with("there must be at least as many")) << wrong;
  EXPECT_EQ(changed(&S::verified, 10), "more tries were verified than made");
  EXPECT_EQ(changed(&S::sum_positive, kInfinity), "a sum is not finite");
  EXPECT_EQ(changed(&S::sum_log_gain, std::nan("")), "a sum is not finite");
  EXPECT_EQ(changed(&S::sum_positive, -0.1), "a sum of positive parts is negative");
  EXPECT_EQ(changed(&S::sum_positive, 200.0), "the families' votes are larger than any gain");
  EXPECT_EQ(changed(&S::sum_log_gain, -500.0), "the gains are larger than any gain");
  S nobody{0, 0, 0, 0.0, 4, 0, 0.0};
  EXPECT_EQ(nobody.nonsense(), "tries without a family");
}

}  // namespace
}  // namespace regraph::learn::graph_training_test
