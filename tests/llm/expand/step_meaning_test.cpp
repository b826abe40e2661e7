#include "llm/expand/step_meaning.h"

#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::llm::step_meaning_test {
namespace {

TEST(StepMeaning, OneIdeaInOtherWordsIsOneStep) {
  EXPECT_TRUE(mean_the_same("warp per row", "One warp per row mapping"));
  EXPECT_TRUE(mean_the_same("separable transform", "separable-transforms"));
  EXPECT_TRUE(mean_the_same("Lane wavefront", "lane_wavefronts"));
  EXPECT_TRUE(mean_the_same("precompute cosine table", "precomputed cosine tables"));
  EXPECT_FALSE(mean_the_same("warp per row", "warp per column"));
  EXPECT_FALSE(mean_the_same("two rows per thread", "four rows per thread"));
  EXPECT_FALSE(mean_the_same("keep list in registers", "keep list in shared memory"));
  EXPECT_FALSE(mean_the_same("", "tile"));
  EXPECT_TRUE(mean_the_same("", ""));
}

TEST(StepMeaning, TheGraphsStepsAreKnownByTheWordsOfTheirNames) {
  const auto graph = load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  ASSERT_TRUE(graph);
  const Step* step = step_meant_by("use coalesced accesses", *graph);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->id, "coalesce_swap");
  EXPECT_EQ(step_meant_by("separable transform", *graph), nullptr);
  EXPECT_EQ(step_meant_by("", *graph), nullptr);
  // No two steps go by the same words, or a name would mean the first of them by chance.
  for (const Step* one : graph->steps())
    EXPECT_EQ(step_meant_by(one->id, *graph), one) << one->id;
}

TEST(StepMeaning, TakingBackNamesNothingButTheLastStep) {
  const std::string tile = "smem_tile Tile a contraction through shared memory";
  EXPECT_TRUE(takes_back("remove shared memory tiling", tile));
  EXPECT_TRUE(takes_back("Undo the tile", tile));
  EXPECT_FALSE(takes_back("remove bank conflicts", tile));
  EXPECT_FALSE(takes_back("drop shared memory barriers", tile));
  EXPECT_FALSE(takes_back("tile through shared memory", tile));
  EXPECT_FALSE(takes_back("remove", tile));
}

}  // namespace
}  // namespace regraph::llm::step_meaning_test
