#include "learn/example_table.h"

#include "fuzz/mutate.h"
#include "learn/examples.h"
#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string_view>

namespace regraph::learn::example_table_test {
namespace {

using examples::random_example;
using examples::random_example_table;

TransitionExample example(const std::string& family, double log_gain) {
  TransitionExample result;
  result.before = "before in " + family;
  result.after = "after in " + family;
  result.log_gain = log_gain;
  result.device = "h200";
  result.name = "f";
  result.kernel = "k";
  result.family = family;
  result.run = "r";
  return result;
}

std::string message_for(const std::string& text) {
  const auto table = ExampleTable::parse(text, "t.examples");
  if (table) return "accepted";
  EXPECT_EQ(table.error().code, ErrorCode::parse);
  return table.error().message;
}

ExampleTable both(ExampleTable one, const ExampleTable& other) {
  one.merge(other);
  return one;
}

const ExampleTable::Transition kSwapTile("swap", "tile");

std::vector<std::string> families(const ExampleTable& table) {
  std::vector<std::string> result;
  for (const TransitionExample& one : table.examples().at(kSwapTile))
    result.push_back(one.family);
  return result;
}

TEST(ExampleTable, KeepsTheBestOfTheBestFamilies) {
  ExampleTable table;
  for (const auto& [family, gain] : {std::pair("a", 0.1), std::pair("b", 0.2), std::pair("b", 0.9),
                                     std::pair("c", 0.3), std::pair("d", 0.4)})
    table.add(kSwapTile, example(family, gain));
  EXPECT_EQ(families(table), (std::vector<std::string>{"b", "d", "c"}));
  EXPECT_NEAR(table.examples().at(kSwapTile).front().log_gain, 0.9, 1e-3);
  TransitionExample measured = example("a", 0.1);
  measured.method = TimeMethod::measured;
  table.add(kSwapTile, measured);
  EXPECT_EQ(families(table), (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(table.size(), kMostExamples);
}

TEST(ExampleTable, LeavesOutWhatIsNotToBeShown) {
  ExampleTable table;
  table.add(kSwapTile, example("a", 0.01));
  table.add(kSwapTile, example("a", std::numeric_limits<double>::quiet_NaN()));
  TransitionExample large = example("a", 0.5);
  large.after.resize(kLargestExampleSide + 1, 'x');
  table.add(kSwapTile, large);
  table.add({"swap", ""}, example("a", 0.5));
  table.add({"\xff", "tile"}, example("a", 0.5));
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(table.examples().empty());
}

TEST(ExampleTable, MergingIsWhatIsBestOfAUnion) {
  std::mt19937_64 random(5);
  bool dropped = false;
  for (int round = 0; round < 300; ++round) {
    const ExampleTable a = random_example_table(random, 25);
    const ExampleTable b = random_example_table(random, 25);
    const ExampleTable c = random_example_table(random, 25);
    const std::string all = both(both(a, b), c).text();
    EXPECT_EQ(all, both(a, both(b, c)).text());
    EXPECT_EQ(all, both(c, both(b, a)).text());
    EXPECT_EQ(all, both(both(both(a, b), c), both(b, c)).text());
    EXPECT_EQ(both(a, a).text(), a.text());
    EXPECT_EQ(both(a, {}).text(), a.text());
    dropped = dropped || both(a, b).size() < a.size() + b.size();
  }
  EXPECT_TRUE(dropped);  // else the rounds above showed little
}

TEST(ExampleTable, DoesNotDependOnTheOrderOfItsExamples) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::pair<ExampleTable::Transition, TransitionExample>> list;
    list.reserve(20);
    for (int count = 0; count < 20; ++count)
      list.push_back(random_example(random));
    std::string first;
    for (int order = 0; order < 4; ++order) {
      ExampleTable table;
      for (const auto& [transition, one] : list)
        table.add(transition, one);
      if (order == 0) first = table.text();
      EXPECT_EQ(table.text(), first);
      std::ranges::shuffle(list, random);
    }
  }
}

TEST(ExampleTable, SurvivesItsText) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    const ExampleTable table = random_example_table(random, 30);
    const auto again = ExampleTable::parse(table.text(), "t.examples");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->examples(), table.examples());
    EXPECT_EQ(again->text(), table.text());
  }
}

TEST(ExampleTable, RefusesDamagedLinesByNumber) {
  ExampleTable table;
  table.add(kSwapTile, example("map", 0.5));
  const std::string good = table.text();
  const std::string line = good.substr(good.find('\n') + 1);
  ASSERT_EQ(message_for(good + line), "accepted");  // the same twice is once
  const auto changed = [&](const std::string& what, const std::string& with) {
    std::string text = line;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
    return message_for(good + text + line);
  };
  EXPECT_EQ(changed("predicted", "guessed"), "t.examples:3: unknown way of timing");
  EXPECT_EQ(changed("\"gain\":1024", "\"gain\":1"), "t.examples:3: the gain is too small");
  EXPECT_EQ(changed("\"gain\":1024", "\"gain\":0"),
            "t.examples:3: an example must have gained something");
  EXPECT_EQ(changed("\"gain\":1024", "\"gain\":2000000000"),
            "t.examples:3: an example must have gained something");
  EXPECT_EQ(changed("\"gain\":1024", "\"gain\":-5"), "t.examples:3: an example has other fields");
  EXPECT_EQ(changed("\"gain\":1024", "\"gain\":[[1]]"),
            "t.examples:3: an example has other fields");
  EXPECT_EQ(changed("\"name\":\"f\",", ""), "t.examples:3: an example has other fields");
  EXPECT_EQ(changed("\"name\"", "\"colour\""), "t.examples:3: an example has other fields");
  EXPECT_EQ(changed("\"family\":\"map\"", "\"family\":\"\""),
            "t.examples:3: an example must name family and kernel");
  EXPECT_EQ(changed("\"step\":\"tile\"", "\"step\":\"\""), "t.examples:3: the steps must be named");
  EXPECT_EQ(changed("before in", "\\u0000"), "t.examples:3: an example's code is not text");
  EXPECT_EQ(message_for(good + "\n"), "t.examples:3: an example must be an object of JSON");
  EXPECT_EQ(message_for(good + line.substr(0, line.size() - 1)),
            "t.examples:3: the line is cut off");
}

TEST(ExampleTable, RefusesForeignFiles) {
  EXPECT_EQ(message_for(""), "t.examples:1: the file is empty");
  EXPECT_TRUE(message_for("regraph-examples/2\n").starts_with("t.examples:1: not a table of "));
  EXPECT_EQ(message_for("regraph-examples/1\n"), "accepted");
}

TEST(ExampleTable, AnyBytesAreSafe) {
  std::mt19937_64 random(7);
  const std::string_view words[] = {"\"", "\n",      "\\",   "measured", "-1", "{",
                                    "[[", "\\u0000", "\xff", "null",     "1e9"};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = random_example_table(random, 5).text();
    fuzz::damage(text, random, words);
    const auto table = ExampleTable::parse(text, "t.examples");
    if (!table) {
      EXPECT_TRUE(table.error().message.starts_with("t.examples:")) << table.error().message;
      continue;
    }
    ++accepted;
    const auto again = ExampleTable::parse(table->text(), "t.examples");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->examples(), table->examples());
  }
  EXPECT_GT(accepted, 10);
}

// A graph of a run's database is read from text: it must have the same to show.
TEST(ExampleTable, IsBroughtAlongByAGraph) {
  ExampleTable table;
  for (const char* family : {"a", "b", "c", "d"})
    table.add({"init", "swap"}, example(family, 0.5));
  table.add({"init", "unheard of"}, example("a", 0.5));
  const StepGraph graph = with_examples(examples::small_graph(), table);
  const auto& shown = graph.transition("init", "swap")->examples;
  ASSERT_EQ(shown.size(), kMostExamples);
  EXPECT_EQ(shown, table.examples().at({"init", "swap"}));
  EXPECT_EQ(graph.find("unheard of"), nullptr);
  const auto again = parse_regraph(regraph_text(graph), "g.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(*again == graph);
  // Those of another table replace them.
  EXPECT_TRUE(with_examples(graph, {}) == examples::small_graph());
}

StateRecord record(std::uint32_t id, const std::string& source) {
  StateRecord state;
  state.id = id;
  Candidate candidate;
  candidate.source = source;
  candidate.identity = hash_text(source);
  state.candidate = std::make_shared<const Candidate>(std::move(candidate));
  return state;
}

AttemptRecord attempt(std::uint32_t parent, std::uint32_t child, const std::string& from,
                      const std::string& step, double log_gain) {
  AttemptRecord result;
  result.parent = parent;
  result.child = child;
  result.from = from;
  result.step.step = step;
  result.verified = true;
  result.log_gain = log_gain;
  return result;
}

TEST(ExampleTable, TakesWhatPaidInASearch) {
  SearchOutcome outcome;
  outcome.states = {record(0, "zero"), record(1, "one"), record(2, "two")};
  outcome.attempts = {attempt(0, 1, "init", "swap", 0.5),  attempt(1, 2, "swap", "tile", 0.25),
                      attempt(0, 2, "init", "wrong", 0.5), attempt(0, 2, "init", "again", 0.5),
                      attempt(1, 0, "swap", "slow", -0.5), attempt(0, 1, "init", "refused", 0.5)};
  outcome.attempts[2].verified = false;
  outcome.attempts[3].repeats = true;
  outcome.attempts[5].child.reset();
  RunDigest digest = examples::digest("k1", "map", {});
  digest.kernel = "scale";
  digest.method = TimeMethod::measured;
  const ExampleTable table = examples_of(outcome, digest);
  ASSERT_EQ(table.size(), 2U) << table.text();
  const TransitionExample& tile = table.examples().at(kSwapTile).front();
  EXPECT_EQ(tile.before, "one");
  EXPECT_EQ(tile.after, "two");
  EXPECT_EQ(tile.log_gain, 0.25);
  EXPECT_EQ(tile.method, TimeMethod::measured);
  EXPECT_EQ(tile.device, "h200");
  EXPECT_EQ(tile.name, "scale");
  EXPECT_EQ(tile.kernel, hash_text("zero").hex());
  EXPECT_EQ(tile.family, "map");
  EXPECT_EQ(tile.run, digest.run());
  digest.derived = true;
  EXPECT_EQ(examples_of(outcome, digest).size(), 0U);
}

}  // namespace
}  // namespace regraph::learn::example_table_test
