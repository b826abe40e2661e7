#include "dataset/generate/kernel_draft.h"

#include "dataset/generate/thread_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace regraph::dataset::kernel_draft_test {
namespace {

constexpr std::uint64_t kMany = 300;

TEST(Names, AreOneForARoleAndNoOther) {
  for (std::uint64_t index = 0; index < kMany; ++index) {
    Names names(Dice("names", 1, index));
    const std::string first = names.of("in");
    std::set<std::string> all;
    for (const char* role :
         {"in", "in2", "in3", "in4", "out", "n",  "rows",  "cols", "row",  "col",
          "k",  "l",   "sum", "v",   "w",   "px", "alpha", "beta", "bias", "index"})
      EXPECT_TRUE(all.insert(names.of(role)).second) << role << " is " << names.of(role);
    EXPECT_EQ(names.of("in"), first);
  }
}

TEST(ExpressionMaker, UsesEveryOperandAndIsBalanced) {
  for (std::uint64_t index = 0; index < kMany; ++index) {
    const Dice dice("expressions", 1, index);
    for (const Element element : {Element::float32, Element::float64, Element::int32}) {
      const ExpressionMaker maker(dice, element);
      const Operand made = maker.make("site", {{"one"}, {"two"}, {"three"}}, 3);
      for (const char* operand : {"one", "two", "three"})
        EXPECT_NE(made.text.find(operand), std::string::npos) << made.text;
      EXPECT_EQ(std::ranges::count(made.text, '('), std::ranges::count(made.text, ')'));
      EXPECT_GT(made.bound, 0.0);
      EXPECT_LT(made.bound, 1e9) << made.text;
      EXPECT_EQ(made.text, maker.make("site", {{"one"}, {"two"}, {"three"}}, 3).text);
      if (element == Element::int32) {
        EXPECT_EQ(made.text.find('.'), std::string::npos) << made.text;
      }
    }
  }
}

TEST(ExpressionMaker, LeavesAnOperandAlone) {
  const ExpressionMaker maker(Dice("expressions", 1, 1), Element::float32);
  EXPECT_EQ(maker.make("site", {{"a[i]"}}, 0).text, "a[i]");
}

TEST(KernelDraft, WhatBindsLooselyIsPutInParentheses) {
  KernelDraft draft({"drafts", 1, 0}, {"f"}, {Element::float32});
  EXPECT_EQ(draft.expression("site", {{"a + b", 8.0, Binding::sum}}, 0), "a + b");
  EXPECT_EQ(draft.expression("site", {{"a + b", 8.0, Binding::sum}}, 0, Binding::product),
            "(a + b)");
  EXPECT_EQ(draft.expression("site", {{"a[i]"}}, 0, Binding::primary), "a[i]");
  bool spelled = false;
  bool brief = false;
  for (std::uint64_t index = 0; index < kMany; ++index) {
    KernelDraft sums({"drafts", 1, index}, {"f"}, {Element::int32});
    sums.add("s", "a ? b : c");
    const std::string source = sums.finish().source;
    const bool long_form = source.find("s = s + (a ? b : c);") != std::string::npos;
    spelled = spelled || long_form;
    brief = brief || source.find("s += a ? b : c;") != std::string::npos;
  }
  EXPECT_TRUE(spelled);
  EXPECT_TRUE(brief);
}

TEST(KernelDraft, BareTakesOffOnePairOfParentheses) {
  EXPECT_EQ(bare("(n + 2)"), "n + 2");
  EXPECT_EQ(bare("n + 2"), "n + 2");
  EXPECT_EQ(bare("(a + 1) * (b + 1)"), "(a + 1) * (b + 1)");
  EXPECT_EQ(bare("((n))"), "(n)");
  EXPECT_EQ(bare("(n"), "(n");
  EXPECT_EQ(bare(""), "");
}

TEST(KernelDraft, LinesAreShortAndBracesClose) {
  for (std::uint64_t index = 0; index < kMany; ++index) {
    KernelDraft draft({"drafts", 1, index}, {"f"}, {Element::float32});
    draft.size("n", fixed(64));
    draft.buffer({"out", Direction::out, {"($n + 2)"}});
    over_elements(draft, {{"i", "$n"}});
    draft.open("if ($i > 3)");
    draft.line("$out[$i] = $zero;");
    draft.otherwise();
    std::string sum = "1.0f";
    for (int term = 0; term < 30; ++term)
      sum += " + 1.0f";
    draft.line("$out[$i] = " + sum + ";");
    const GeneratedKernel made = draft.finish();
    EXPECT_EQ(std::ranges::count(made.source, '{'), std::ranges::count(made.source, '}'));
    EXPECT_NE(made.source.find("else"), std::string::npos);
    std::size_t begin = 0;
    while (begin < made.source.size()) {
      const std::size_t end = made.source.find('\n', begin);
      EXPECT_LE(end - begin, 100U) << made.source;
      begin = end + 1;
    }
    EXPECT_NE(made.manifest.find("shape: [\"" + draft.say("$n") + " + 2\"]"), std::string::npos)
        << made.manifest;
  }
}

// Every element has one thread, whichever layout was drawn: its indices are what they are guarded
// by, and the grid is as long as both.
TEST(ThreadLayout, GuardsEveryAxisAndFollowsTheBlock) {
  std::set<std::string> launches;
  for (std::uint64_t index = 0; index < kMany; ++index) {
    KernelDraft draft({"drafts", 1, index}, {"f"}, {Element::float32});
    draft.size("rows", fixed(64));
    draft.size("cols", fixed(96));
    over_elements(draft, {{"row", "$rows"}, {"col", "$cols"}}, {.loops = kRowLoops});
    draft.line("$out[$row * $cols + $col] = $zero;");
    const std::string rows = draft.say("$rows");
    const std::string cols = draft.say("$cols");
    const GeneratedKernel made = draft.finish();
    const std::size_t at = made.manifest.find("grid: ");
    ASSERT_NE(at, std::string::npos);
    std::string grid = made.manifest.substr(at, made.manifest.find('}', at) - at);
    for (const auto& [name, role] : {std::pair(rows, "R"), std::pair(cols, "C")}) {
      for (const char* around : {"cdiv({},", "cdiv({} ", "* {},"}) {
        std::string text(around);
        text.replace(text.find("{}"), 2, name);
        std::string by(around);
        by.replace(by.find("{}"), 2, role);
        if (const std::size_t found = grid.find(text); found != std::string::npos)
          grid.replace(found, text.size(), by);
      }
    }
    launches.insert(grid);
  }
  EXPECT_EQ(launches, (std::set<std::string>{
                          "grid: [\"cdiv(C, bx)\", \"cdiv(R, by)\"]",
                          "grid: [\"cdiv(R, bx)\", \"cdiv(C, by)\"]",
                          "grid: [\"cdiv(R * C, bx)\"]",
                          "grid: [\"cdiv(C * R, bx)\"]",
                          "grid: [\"cdiv(R, bx)\"]",
                      }));
}

}  // namespace
}  // namespace regraph::dataset::kernel_draft_test
