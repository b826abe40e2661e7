#include "triton_expander/triton_expander.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::triton::value_proposals_test {
namespace {

KernelText product() {
  KernelText text;
  text.kernel = "product";
  text.constants = {{"BM", "32"}, {"BK", "16"}, {"COLUMNS", "64"}, {"SCALE", "0.5"}};
  text.grid = {"cdiv(M, BM)", "1", "1"};
  text.module =
      "def product():\n    for k in range(0, K, BK):\n        x = tl.arange(0, COLUMNS)\n";
  return text;
}

bool offers(const std::vector<StepProposal>& proposals, const std::string& text) {
  return std::ranges::any_of(proposals,
                             [&](const StepProposal& one) { return one.text() == text; });
}

TEST(ValueProposals, TilesAreWhatTheGridOrALoopMakesUpFor) {
  EXPECT_TRUE(is_tile(product(), "BM"));
  EXPECT_TRUE(is_tile(product(), "BK"));
  EXPECT_FALSE(is_tile(product(), "COLUMNS"));
  EXPECT_FALSE(is_tile(product(), "B"));
}

TEST(ValueProposals, GoToPowersOfTwoNextToTheValue) {
  const auto proposals = value_proposals(product());
  EXPECT_TRUE(offers(proposals, "tile(name=BM, value=64)"));
  EXPECT_TRUE(offers(proposals, "tile(name=BM, value=16)"));
  EXPECT_TRUE(offers(proposals, "tile(name=BK, value=64)"));
  EXPECT_FALSE(offers(proposals, "tile(name=BK, value=8)"));  // tl.dot wants 16
  EXPECT_TRUE(offers(proposals, "warps(value=8)"));
  EXPECT_TRUE(offers(proposals, "stages(value=4)"));
  for (const StepProposal& one : proposals) {
    const auto name = one.parameters.find("name");
    if (name != one.parameters.end()) {
      EXPECT_TRUE(name->second == "BM" || name->second == "BK");
    }
  }
}

TEST(ValueProposals, WithoutALoopThereAreNoStages) {
  KernelText text = product();
  text.module = "def product():\n    pass\n";
  for (const StepProposal& one : value_proposals(text))
    EXPECT_NE(one.step, "stages");
}

TEST(ValueProposals, ClustersAreForProductsOnDevicesThatHaveThem) {
  const auto has_ctas = [](const KernelText& text, bool has_clusters) {
    return offers(value_proposals(text, has_clusters), "ctas(value=2)");
  };
  KernelText text = product();
  EXPECT_FALSE(has_ctas(text, true));
  text.module += "        x = tl.dot(x, x)\n";
  EXPECT_TRUE(has_ctas(text, true));
  EXPECT_FALSE(has_ctas(text, false));
  text.ctas = 2;
  EXPECT_TRUE(offers(value_proposals(text, true), "ctas(value=1)"));
  EXPECT_TRUE(offers(value_proposals(text, true), "ctas(value=4)"));
  text.choices = {{"num_ctas", {"8"}}};
  EXPECT_TRUE(offers(value_proposals(text, true), "ctas(value=8)"));
  EXPECT_FALSE(offers(value_proposals(text, false), "ctas(value=8)"));
}

TEST(ValueProposals, ChoicesOfTheAuthorAreOfferedOnce) {
  KernelText text = product();
  text.choices = {{"BM", {"32", "64", "96"}}, {"COLUMNS", {"128"}}, {"num_warps", {"16"}}};
  const auto proposals = value_proposals(text);
  EXPECT_TRUE(offers(proposals, "tile(name=BM, value=96)"));
  EXPECT_TRUE(offers(proposals, "constant(name=COLUMNS, value=128)"));
  EXPECT_TRUE(offers(proposals, "warps(value=16)"));
  EXPECT_EQ(std::ranges::count_if(
                proposals,
                [](const StepProposal& one) { return one.text() == "tile(name=BM, value=64)"; }),
            1);
  EXPECT_FALSE(offers(proposals, "tile(name=BM, value=32)"));
}

TEST(Assumptions, OtherTilesAddInAnotherOrder) {
  KernelText text = product();
  const auto assumed = [&](const char* step) {
    StepProposal proposal;
    proposal.step = step;
    return assumption_of(text, proposal);
  };
  EXPECT_EQ(assumed("tile"), "");  // nothing is added
  text.module += "        total += tl.sum(x, axis=0)\n";
  EXPECT_NE(assumed("tile").find("reordered"), std::string::npos);
  EXPECT_NE(assumed("warps").find("reordered"), std::string::npos);
  EXPECT_EQ(assumed("unmask"), "");
  EXPECT_EQ(assumed("stages"), "");
  EXPECT_NE(assumed("dot_precision").find("TF32"), std::string::npos);
}

}  // namespace
}  // namespace regraph::triton::value_proposals_test
