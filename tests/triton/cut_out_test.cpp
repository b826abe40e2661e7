#include "triton/cut_out.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::triton::cut_out_test {
namespace {

CutOut seen() {
  CutOut cut;
  cut.kernel = "add";
  cut.module = "import triton\n";
  cut.parameters = {{"x_ptr", false, true, true, false, "", ""},
                    {"y_ptr", false, true, false, true, "", ""},
                    {"n", false, false, false, false, "", ""},
                    {"BLOCK", true, false, false, false, "tl.constexpr", ""}};
  SeenLaunch launch;
  launch.line = 7;
  launch.grid = {"cdiv(n, BLOCK)"};
  launch.options = {{"num_warps", 8}};
  cut.launch = std::move(launch);
  cut.configs = {{{{"BLOCK", "512"}}, 4, 0}, {{{"BLOCK", "1024"}}, 8, 2}};
  return cut;
}

TEST(CutOutDraft, TakesLaunchAndConfigurationsOfTheFile) {
  const Draft draft = draft_text(seen(), nullptr);
  EXPECT_TRUE(draft.missing.empty());
  EXPECT_EQ(draft.text.constants.at("BLOCK"), "512");
  EXPECT_EQ(draft.text.warps, 8);
  EXPECT_EQ(draft.text.grid[0], "cdiv(n, BLOCK)");
  EXPECT_EQ(draft.text.parameters[2], (TypedParameter{"n", ScalarType::i32, false}));
  EXPECT_EQ(draft.text.choices.at("BLOCK"), (std::vector<std::string>{"512", "1024"}));
  ASSERT_EQ(draft.notes.size(), 1U);
  EXPECT_NE(draft.notes[0].find("x_ptr: *fp32"), std::string::npos);
}

TEST(CutOutDraft, TakesTypesAndWhatTheLauncherMakesPartOfTheCode) {
  CutOut cut = seen();
  cut.launch->types = {{"x_ptr", "*bf16"}};
  cut.launch->constants = {{"BLOCK", "2048"}, {"n", "1"}, {"y_ptr", "null"}};
  const Draft draft = draft_text(cut, nullptr);
  EXPECT_TRUE(draft.missing.empty());
  EXPECT_TRUE(draft.notes.empty());
  EXPECT_EQ(draft.text.parameters,
            (std::vector<TypedParameter>{{"x_ptr", ScalarType::bf16, true}}));
  EXPECT_EQ(draft.text.constants,
            (std::map<std::string, std::string>{{"BLOCK", "2048"}, {"n", "1"}, {"y_ptr", "null"}}));
}

TEST(CutOutDraft, WhatTheCommentLeavesOutIsTheLaunchs) {
  SaidText said;
  said.text.constants = {{"BLOCK", "64"}};
  said.keys = {"constants"};
  const Draft draft = draft_text(seen(), &said);
  EXPECT_TRUE(draft.missing.empty());
  EXPECT_EQ(draft.text.kernel, "add");
  EXPECT_EQ(draft.text.constants.at("BLOCK"), "64");
  EXPECT_EQ(draft.text.grid[0], "cdiv(n, BLOCK)");
  EXPECT_EQ(draft.text.warps, 8);
  EXPECT_EQ(draft.text.parameters.size(), 3U);
}

TEST(CutOutDraft, TheCommentGoesFirst) {
  SaidText said;
  said.text.kernel = "add";
  said.text.parameters = {{"x_ptr", ScalarType::f16, true},
                          {"y_ptr", ScalarType::f16, true},
                          {"n", ScalarType::i64, false}};
  said.text.constants = {{"BLOCK", "64"}};
  said.text.grid = {"7", "1", "1"};
  said.keys = {"kernel", "signature", "constants", "grid", "num_warps"};
  const Draft draft = draft_text(seen(), &said);
  EXPECT_TRUE(draft.missing.empty());
  EXPECT_TRUE(draft.notes.empty());
  EXPECT_EQ(draft.text.parameters, said.text.parameters);
  EXPECT_EQ(draft.text.constants.at("BLOCK"), "64");
  EXPECT_EQ(draft.text.grid[0], "7");
  EXPECT_EQ(draft.text.warps, kDefaultWarps);
}

TEST(CutOutDraft, SaysWhatIsMissing) {
  CutOut cut = seen();
  cut.launch->grid.clear();
  cut.launch->problems = {{"BLOCK", "line 7: 'pick(n)' cannot be read"},
                          {"grid", "line 6: 'blocks' cannot be read"}};
  cut.configs.clear();
  const Draft draft = draft_text(cut, nullptr);
  ASSERT_EQ(draft.missing.size(), 2U);
  EXPECT_NE(draft.missing[0].find("'BLOCK' (line 7: 'pick(n)'"), std::string::npos);
  EXPECT_NE(draft.missing[1].find("grid"), std::string::npos);
  EXPECT_NE(draft.missing[1].find("line 6"), std::string::npos);
  cut.launch.reset();
  EXPECT_EQ(draft_text(cut, nullptr).missing.size(), 2U);
}

TEST(CutOutDraft, NamesThatTheKernelHasNotAreNotTaken) {
  SaidText said;
  said.text.parameters = {{"x_ptr", ScalarType::f32, true}, {"other", ScalarType::i32, false}};
  said.text.constants = {{"TILE", "8"}};
  said.keys = {"signature", "constants"};
  const Draft draft = draft_text(seen(), &said);
  const auto mentions = [&](const std::string& text) {
    return std::ranges::any_of(
        draft.missing, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(mentions("has no 'other'"));
  EXPECT_TRUE(mentions("has no 'TILE'"));
  EXPECT_TRUE(mentions("a type for 'y_ptr'"));
}

}  // namespace
}  // namespace regraph::triton::cut_out_test
