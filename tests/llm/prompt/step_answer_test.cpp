#include "llm/prompt/step_answer.h"

#include "llm/prompt/prompt_library.h"
#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

namespace regraph::llm::step_answer_test {
namespace {

const std::filesystem::path kRoot = REGRAPH_SOURCE_DIR;

class StepAnswerTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::vector<NamedStep>> parse(std::string text,
                                                     std::size_t limit = 8) const {
    ChatChoice choice;
    choice.text = std::move(text);
    return parse_steps(choice, *library.prompt(PromptKind::propose).schema, graph, limit);
  }

  PromptLibrary library = *PromptLibrary::load(kRoot / "graphs" / "prompts");
  StepGraph graph = *load_regraph(kRoot / "graphs" / "cuda.yaml");
};

TEST_F(StepAnswerTest, ReadsStepsInOrder) {
  const auto steps = parse(
      R"({"steps": [{"step": "smem_tile", "why": "reuse", "parameters": {"depth": 32}},
                    {"step": "thread_coarsen", "why": "more work"}]})");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].id, "smem_tile");
  EXPECT_EQ((*steps)[0].parameters, (StepParameters{{"depth", "32"}}));
  EXPECT_EQ((*steps)[0].why, "reuse");
  EXPECT_FALSE((*steps)[0].is_new);
  EXPECT_EQ((*steps)[1].id, "thread_coarsen");
}

TEST_F(StepAnswerTest, AliasesBecomeStepsOfTheCatalogue) {
  EXPECT_EQ(relabelled("Memory Coalescing", graph).id, "coalesce_swap");
  EXPECT_EQ(relabelled("XOR-Swizzle", graph).id, "smem_pad");
  EXPECT_EQ(relabelled("Warp Shuffle", graph).id, "reduce_shuffle");
  const auto steps = parse(R"([{"step": "memory coalescing", "why": ""}])");
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ((*steps)[0].id, "coalesce_swap");
  EXPECT_EQ((*steps)[0].name, "memory coalescing");
}

TEST_F(StepAnswerTest, UnknownNamesBecomeNewSteps) {
  const NamedStep step = relabelled("Sparse \n Row-Skipping!!", graph);
  EXPECT_EQ(step.id, "sparse_row_skipping");
  EXPECT_EQ(step.name, "Sparse Row-Skipping!!");
  EXPECT_TRUE(step.is_new);
  EXPECT_EQ(relabelled(std::string(500, 'q'), graph).id.size(), 48U);
  EXPECT_EQ(relabelled("../../3 etc", graph).id, "etc");
  EXPECT_EQ(relabelled("123 ...", graph).id, "");
  // What is left of a name may be a step's.
  EXPECT_EQ(relabelled("smem_tile \xc3\xbc", graph).id, "smem_tile");
  EXPECT_FALSE(relabelled("smem_tile \xc3\xbc", graph).is_new);
}

TEST_F(StepAnswerTest, NothingIsRelabelledToTheInitialState) {
  for (const char* name : {"init", "Init State", "initial state", "init \xc3\xbc"})
    EXPECT_EQ(relabelled(name, graph).id, "") << name;
  const auto steps = parse(R"([{"step": "init", "why": ""}])");
  ASSERT_TRUE(steps);
  EXPECT_TRUE(steps->empty());
}

TEST_F(StepAnswerTest, DuplicatesAreMergedAndTheLimitHolds) {
  const auto steps = parse(R"([{"step": "smem_tile", "why": "first"},
      {"step": "shared memory tiling", "why": "again"}, {"step": "smem-tile", "why": "and again"},
      {"step": "Fresh Idea", "why": ""}, {"step": "fresh_idea", "why": ""},
      {"step": "smem_pad", "why": ""}])",
                           2);
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].why, "first");
  EXPECT_EQ((*steps)[1].id, "fresh_idea");
}

TEST_F(StepAnswerTest, OnlyAllowedParametersAreKept) {
  const auto steps = parse(R"([{"step": "smem_pad", "why": "", "parameters":
      {"pad": "4", "color": "red"}}, {"step": "smem_pad", "why": "", "parameters": {"pad": "99"}},
      {"step": "Fresh Idea", "why": "", "parameters": {"Tile Size": "8"}}])");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 3U);
  EXPECT_EQ((*steps)[0].parameters, (StepParameters{{"pad", "4"}}));
  EXPECT_TRUE((*steps)[1].parameters.empty());
  EXPECT_EQ((*steps)[2].parameters, (StepParameters{{"tile_size", "8"}}));
}

TEST_F(StepAnswerTest, AnEmptyListIsAnAnswerAndOtherFormsAreNot) {
  EXPECT_TRUE(parse(R"({"steps": []})")->empty());
  EXPECT_EQ(parse(R"({"steps": [{"why": "x"}]})").error().message,
            "steps[0]: key 'step' is missing");
  EXPECT_EQ(parse(R"({"steps": [], "more": 1})").error().message,
            "the answer: key 'more' is not asked for");
  EXPECT_EQ(parse(R"([{"step": "a", "why": "", "parameters": {"x": [1]}}])").error().message,
            "steps[0].parameters[0].value: expected a string, found array");
  EXPECT_FALSE(parse("smem_tile"));
  EXPECT_FALSE(parse("7"));
}

TEST_F(StepAnswerTest, AnyValueMayBeWhatTheKernelHas) {
  graph = *load_regraph(kRoot / "graphs" / "triton.yaml");
  const auto steps = parse(
      R"([{"step": "tile", "why": "", "parameters": {"name": "BLOCK", "value": 2048, "by": "me"}}])");
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  EXPECT_EQ((*steps)[0].parameters, (StepParameters{{"name", "BLOCK"}, {"value", "2048"}}));
}

}  // namespace
}  // namespace regraph::llm::step_answer_test
