#include "learn/observation_table.h"

#include "fuzz/mutate.h"
#include "learn/examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string_view>

namespace regraph::learn::observation_table_test {
namespace {

using examples::digest;
using examples::digest_state;
using examples::fails;
using examples::leads;
using examples::observation;
using examples::random_table;

std::string message_for(const std::string& text) {
  const auto table = ObservationTable::parse(text, "t.tsv");
  if (table) return "accepted";
  EXPECT_EQ(table.error().code, ErrorCode::parse);
  return table.error().message;
}

ObservationTable both(ObservationTable one, const ObservationTable& other) {
  one.merge(other);
  return one;
}

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream stream(line);
  for (std::string column; std::getline(stream, column, '\t');)
    columns.push_back(column);
  return columns;
}

std::string line_of(const std::vector<std::string>& columns) {
  std::string line;
  for (std::size_t at = 0; at < columns.size(); ++at)
    line += (at == 0 ? "" : "\t") + columns[at];
  return line + "\n";
}

TEST(ObservationTable, NamesMayHoldWhatSeparatesRowsAndColumns) {
  ObservationTable table;
  ObservationRow row = observation("a\\tb", "k\n1", "\\", "tile\there", -77);
  row.setting = "text=\\n, other=\\\\\t\n";
  row.reason = "ends with a backslash \\";
  row.run = std::string("zero\0byte\r", 10);
  row.variant = 3;
  table.add(row);
  table.add(observation("map", "k", "s", "swap", 5));
  const std::string text = table.text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);  // a line a row, whatever is in them
  const auto again = ObservationTable::parse(text, "t.tsv");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->rows(), table.rows());
  EXPECT_TRUE(again->rows().contains(row));
  EXPECT_EQ(again->text(), text);
}

TEST(ObservationTable, RandomTablesSurviveTheirText) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    const ObservationTable table = random_table(random, 30);
    const auto again = ObservationTable::parse(table.text(), "t.tsv");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rows(), table.rows());
    EXPECT_EQ(again->name(), table.name());
  }
}

TEST(ObservationTable, MergingIsUnion) {
  std::mt19937_64 random(5);
  bool shared = false;
  for (int round = 0; round < 200; ++round) {
    const ObservationTable a = random_table(random, 40);
    const ObservationTable b = random_table(random, 40);
    const ObservationTable c = random_table(random, 40);
    const std::string all = both(both(a, b), c).text();
    EXPECT_EQ(all, both(a, both(b, c)).text());
    EXPECT_EQ(all, both(c, both(b, a)).text());
    EXPECT_EQ(all, both(both(both(a, b), c), both(b, c)).text());
    EXPECT_EQ(both(a, a).text(), a.text());
    EXPECT_EQ(both(a, {}).text(), a.text());
    for (const ObservationRow& row : a.rows())
      EXPECT_TRUE(both(b, a).rows().contains(row));
    shared = shared || both(a, b).size() < a.size() + b.size();
  }
  EXPECT_TRUE(shared);  // else the rounds above showed little
}

TEST(ObservationTable, NamesItsContent) {
  ObservationTable one;
  ObservationTable other;
  const ObservationRow first = observation("map", "k1", "s", "tile", 1);
  const ObservationRow second = observation("map", "k2", "s", "tile", 1);
  one.add(first);
  one.add(second);
  other.add(second);
  EXPECT_NE(one.name(), other.name());
  other.add(first);
  EXPECT_EQ(one.name(), other.name());
  EXPECT_TRUE(one.name().ends_with(" (2 rows)")) << one.name();
}

TEST(ObservationTable, RefusesDamagedLinesByNumber) {
  ObservationTable table;
  table.add(observation("map", "k1", "s", "tile", 100));
  const std::string good = table.text();
  const std::string line = good.substr(good.find('\n') + 1);
  ASSERT_EQ(message_for(good + line), "accepted");  // the same twice is once

  enum Column : std::size_t {
    method = 1,
    family,
    kernel,
    step = 7,
    setting,
    variant,
    verified = 11,
    gain,
    reason
  };
  const struct {
    std::size_t column;
    std::string value;
    std::string message;
  } cases[] = {
      {method, "guessed", "unknown way of timing"},
      {method, "", "unknown way of timing"},
      {family, "", "step, kernel and family must be named"},
      {kernel, "", "step, kernel and family must be named"},
      {step, "", "step, kernel and family must be named"},
      {step, "a\\b", "a backslash that means nothing"},
      {setting, "ends\\", "a backslash that means nothing"},
      {setting, "one\tmore", "there must be 14 columns, not 15"},
      {variant, "-1", "a variant must be a number"},
      {variant, "first", "a variant must be a number"},
      {variant, "1 ", "a variant must be a number"},
      {variant, "99999999999", "a variant must be a number"},
      {verified, "yes", "verified must be 0 or 1"},
      {verified, "", "verified must be 0 or 1"},
      {verified, "0", "a gain of what was not verified"},
      {gain, "0.5", "a gain is not one"},
      {gain, "", "a gain is not one"},
      {gain, "3000000", "a gain is not one"},  // e^1464
      {gain, "-200000", "a gain is not one"},  // e^-97
      {gain, "99999999999", "a gain is not one"},
  };
  for (const auto& one : cases) {
    std::vector<std::string> columns = columns_of(line.substr(0, line.size() - 1) + "-");
    ASSERT_EQ(columns.size(), 14U);
    columns[one.column] = one.value;
    EXPECT_EQ(message_for(good + line_of(columns) + line), "t.tsv:3: " + one.message)
        << "column " << one.column << " is '" << one.value << "'";
  }
  EXPECT_EQ(message_for(good + "\n" + line), "t.tsv:3: there must be 14 columns, not 1");
  // Half a reason is not the reason.
  EXPECT_EQ(message_for(good + line.substr(0, line.size() - 1)), "t.tsv:3: the line is cut off");
}

TEST(ObservationTable, RefusesForeignFiles) {
  EXPECT_EQ(message_for(""), "t.tsv:1: the file is empty");
  EXPECT_TRUE(message_for("regraph-observations/2\n").starts_with("t.tsv:1: not a table of "));
  EXPECT_TRUE(message_for("regraph-observations/1\r\n").starts_with("t.tsv:1: not a table of "));
  EXPECT_EQ(message_for("regraph-observations/1\n"), "accepted");
}

TEST(ObservationTable, AnyBytesAreSafe) {
  std::mt19937_64 random(7);
  const std::string_view words[] = {"\t", "\n", "\\", "measured", "-1", "0", "\t\t\t", "1e9"};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = random_table(random, 5).text();
    fuzz::damage(text, random, words);
    const auto table = ObservationTable::parse(text, "t.tsv");
    if (!table) {
      EXPECT_TRUE(table.error().message.starts_with("t.tsv:")) << table.error().message;
      continue;
    }
    ++accepted;
    const auto again = ObservationTable::parse(table->text(), "t.tsv");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rows(), table->rows());
  }
  EXPECT_GT(accepted, 10);
}

TEST(ObservationTable, WhatWasDeclinedOrStandsForSeveralStepsIsNoTry) {
  DigestState state = digest_state(0, 0.0, {"tile", "leap", "swap"});
  state.edges = {fails(0, "declined"), leads(1, 1, 0.5), leads(2, 1, 0.5)};
  state.view.proposals[2].advice.title = "In words";
  ObservationTable table;
  table.add(digest("k", "map", {state, digest_state(1, 0.5, {})}));
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table.rows().begin()->title, "In words");
}

TEST(ObservationTable, TakesTheTriesOfARun) {
  DigestState original = digest_state(0, 0.0, {"swap", "tile", "unroll", "same", "loop", "back"});
  original.view.proposals[1].parameters = {{"axis", "x"}, {"by", "model"}, {"factor", "4"}};
  original.edges = {leads(0, 1, 0.5), leads(1, 2, 0.25), fails(2, "refused"),
                    leads(3, 0, 0.125, true), leads(4, 1, 0.5, true)};
  original.edges[1].variant = 2;
  original.edges[0].reason = "what a correct one says is no reason";
  DigestState below = digest_state(1, 0.5, {"tile"});
  below.view.history = {"swap"};
  below.edges = {leads(0, 3, -0.5)};
  const RunDigest run = digest("k1", "map", {original, below});
  ObservationTable table;
  table.add(run);
  table.add(run);

  std::map<std::string, ObservationRow> by_step;
  for (const ObservationRow& row : table.rows()) {
    EXPECT_EQ(row.run, run.run());
    EXPECT_EQ(row.device, "h200");
    EXPECT_EQ(row.method, "predicted");
    EXPECT_EQ(row.family, "map");
    EXPECT_EQ(row.kernel, "k1");
    by_step[row.from + " " + row.step] = row;
  }
  ASSERT_EQ(table.size(), 5U);  // "loop" says nothing that "swap" does not
  EXPECT_EQ(by_step.at("init swap").gain, to_fixed(0.5));
  EXPECT_EQ(by_step.at("init swap").reason, "");
  EXPECT_EQ(by_step.at("init swap").who, "rewriter");
  EXPECT_EQ(by_step.at("init swap").parent, "state0");
  EXPECT_EQ(by_step.at("init tile").who, "model");
  EXPECT_EQ(by_step.at("init tile").setting, "axis=x, factor=4");
  EXPECT_EQ(by_step.at("init tile").variant, 2);
  EXPECT_FALSE(by_step.at("init unroll").verified);
  EXPECT_EQ(by_step.at("init unroll").reason, "refused");
  // It gave the kernel itself: known to bring nothing.
  EXPECT_TRUE(by_step.at("init same").verified);
  EXPECT_EQ(by_step.at("init same").gain, 0);
  EXPECT_EQ(by_step.at("swap tile").gain, to_fixed(-0.5));
  EXPECT_EQ(by_step.at("swap tile").parent, "state1");
}

}  // namespace
}  // namespace regraph::learn::observation_table_test
