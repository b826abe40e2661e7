#include "llm/expand/step_chooser.h"

#include "llm/expand/expansion_case.h"
#include "regraph/combined_steps.h"
#include "regraph/composite_expander.h"

#include <algorithm>
#include <cmath>

namespace regraph::test::step_chooser_test {
namespace {

class StepChooser : public ExpansionCase {
 protected:
  [[nodiscard]] std::vector<StepProposal> chosen(const std::string& answer) {
    oracle.say({answer});
    return expander().propose(original, context, never);
  }
  [[nodiscard]] static const StepProposal* of_step(const std::vector<StepProposal>& proposals,
                                                   const std::string& step) {
    const auto found = std::ranges::find(proposals, step, &StepProposal::step);
    return found == proposals.end() ? nullptr : &*found;
  }
  [[nodiscard]] static bool holds(const llm::ChatRequest& request, const std::string& text) {
    return std::ranges::any_of(request.messages, [&](const llm::ChatMessage& message) {
      return message.text.find(text) != std::string::npos;
    });
  }
  [[nodiscard]] DoneStep done(const std::string& step, const std::string& title = "") const {
    DoneStep result;
    result.step = by_model(step);
    result.step.advice.title = title;
    result.seconds_before = 2.0 * context.evaluation.time.median_seconds;
    return result;
  }
};

TEST_F(StepChooser, ReasonAndValuesReachWhoeverWritesTheStep) {
  const auto proposals = chosen(R"({"steps": [{"step": "thread_coarsen",
      "why": "four rows a thread hide the latency", "plan": [],
      "parameters": [{"name": "axis", "value": "y"}, {"name": "factor", "value": 4}]}]})");
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(proposals[0].text(), "thread_coarsen(axis=y, by=model, factor=4)");
  EXPECT_EQ(proposals[0].advice.named_share, 1.0);
  const auto request = expander().apply_request(original, proposals[0], 0, context);
  ASSERT_TRUE(request);
  EXPECT_TRUE(holds(*request, "Why it was chosen for this code: four rows a thread hide"));
  EXPECT_TRUE(holds(*request, "Parameters that were chosen: axis = y, factor = 4"));
}

TEST_F(StepChooser, AnEmptyListLeavesNothingToBeAskedFor) {
  EXPECT_TRUE(chosen(R"({"steps": []})").empty());
  const auto own = rewriter->propose(original, context, never);
  const auto model = expander();
  const CompositeExpander both({rewriter.get(), &model});
  const auto proposals = both.propose(original, context, never);
  EXPECT_TRUE(std::ranges::equal(own, proposals, {}, &StepProposal::text, &StepProposal::text));
  EXPECT_EQ(model.statistics().empty_lists, 1);
}

TEST_F(StepChooser, StepsOfItsOwnAreAskedForAndMergedByMeaning) {
  StepProposal earlier = by_model("padded_tile_of_words");
  earlier.advice.title = "Padded tile of words";
  context.story.new_steps = {earlier};
  const auto proposals = chosen(R"({"steps": [
      {"step": "diagonal block order", "why": "blocks on a diagonal spread over the channels"},
      {"step": "order blocks diagonally", "why": "the same"},
      {"step": "tile of padded words", "why": "no conflicts"}]})");
  ASSERT_EQ(proposals.size(), 2U);
  EXPECT_EQ(proposals[0].step, "diagonal_block_order");
  EXPECT_EQ(proposals[0].advice.title, "diagonal block order");
  EXPECT_NEAR(proposals[0].advice.named_share, 9.0 / 11, 1e-12);
  EXPECT_EQ(proposals[1].step, "padded_tile_of_words");
  EXPECT_EQ(proposals[1].advice.title, "Padded tile of words");
  const auto request = expander().apply_request(original, proposals[0], 0, context);
  ASSERT_TRUE(request);
  EXPECT_TRUE(holds(*request, "diagonal_block_order: diagonal block order\n"));
  EXPECT_TRUE(holds(*request, "blocks on a diagonal spread"));
  // One without a name in words cannot be asked for.
  EXPECT_FALSE(expander().apply_request(original, by_model("who_knows"), 0, context));
}

TEST_F(StepChooser, WhatWasDoneOrWouldBeTakenBackIsNotAskedFor) {
  context.story.path = {done("lane_order", "lane order"), done("smem_tile")};
  const auto model = expander();
  oracle.say({R"({"steps": [{"step": "remove the shared memory tile", "why": "it costs a barrier"},
      {"step": "order of lanes", "why": "again"}, {"step": "smem_pad", "why": "conflicts"}]})"});
  const auto proposals = model.propose(original, context, never);
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(proposals[0].step, "smem_pad");
  EXPECT_EQ(model.statistics().taken_back, 2);
}

TEST_F(StepChooser, PlansAreLeaps) {
  const std::string answer = R"({"steps": [{"step": "leap", "why": "one pays with the other",
      "plan": ["smem_transpose", "pad the tile"], "parameters": []}]})";
  const auto proposals = chosen(answer);
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(proposals[0].step, kLeap);
  EXPECT_EQ(planned_steps(proposals[0]),
            (std::vector<std::string>{"smem_transpose", "pad_the_tile"}));
  const auto request = expander().apply_request(original, proposals[0], 0, context);
  ASSERT_TRUE(request);
  EXPECT_TRUE(holds(*request, "\n1. smem_transpose: "));
  EXPECT_TRUE(holds(*request, "\n2. pad_the_tile: "));
  EXPECT_TRUE(holds(*request, "one pays with the other"));
  config.requests.leaps = false;
  EXPECT_TRUE(chosen(answer).empty());
  EXPECT_FALSE(holds(oracle.requests.back(), "\"leap\""));
}

TEST_F(StepChooser, StatesThatAreOfferedMayBeCombined) {
  OtherState other;
  other.state = 7;
  other.candidate = std::make_shared<const Candidate>(original);
  other.steps = {by_model("loop_unroll")};
  other.log_gain = std::log(1.5);
  context.story.others = {other};
  const std::string answer = R"({"steps": [
      {"step": "combine", "why": "both", "parameters": {"with": "7"}},
      {"step": "combine", "why": "unknown", "parameters": {"with": "8"}}]})";
  const auto proposals = chosen(answer);
  EXPECT_TRUE(holds(oracle.requests.back(), "7: from the original it went loop_unroll: 1.50x"));
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(state_to_combine(proposals[0]), 7U);
  EXPECT_TRUE(expander().apply_request(original, proposals[0], 0, context));
  // Later that state may be gone.
  ExpansionContext alone = context;
  alone.story.others.clear();
  EXPECT_FALSE(expander().apply_request(original, proposals[0], 0, alone));
  // Nobody is asked: it is offered all the same.
  config.choosing.ask = false;
  EXPECT_NE(of_step(expander().propose(original, context, never), kCombine), nullptr);
  config.requests.combinations = false;
  EXPECT_EQ(of_step(expander().propose(original, context, never), kCombine), nullptr);
}

TEST_F(StepChooser, NobodyIsAskedAtTheFloorOrBesideThePoint) {
  oracle.say({R"({"steps": [{"step": "smem_pad", "why": ""}]})"});
  const auto model = expander();
  const CompositeExpander both({rewriter.get(), &model});
  const double seconds = context.evaluation.time.median_seconds;
  ExpansionContext slower = context;
  slower.story.path = {done("loop_unroll")};
  slower.story.path[0].seconds_before = 1.005 * seconds;
  EXPECT_TRUE(model.propose(original, slower, never).empty());
  EXPECT_FALSE(both.propose(original, slower, never).empty());
  slower.story.path[0].seconds_before = 2.0 * seconds;
  slower.story.best_seconds = seconds / 2.5;
  EXPECT_TRUE(model.propose(original, slower, never).empty());
  ExpansionContext finished = context;
  finished.evaluation.roofline_seconds = seconds / 1.02;
  EXPECT_TRUE(both.propose(original, finished, never).empty());
  EXPECT_TRUE(oracle.requests.empty());
  EXPECT_EQ(model.statistics().beside_the_point, 3);
  EXPECT_EQ(model.statistics().at_floor, 1);
  // A floor that is beaten by far is none.
  finished.evaluation.roofline_seconds = 2.0 * seconds;
  EXPECT_FALSE(both.propose(original, finished, never).empty());
}

TEST_F(StepChooser, ChoosingAndWritingMayBeOneRequest) {
  config.choosing.style = llm::AskingStyle::together;
  oracle.say(
      {"```steps\n{\"steps\": [{\"step\": \"smem_transpose\", \"why\": \"strided\"}, "
       "{\"step\": \"smem_pad\", \"why\": \"conflicts\"}]}\n```\n" +
       answer("smem_transpose.0.md")});
  const auto model = expander();
  const auto proposals = model.propose(original, context, never);
  ASSERT_EQ(proposals.size(), 2U);
  ASSERT_EQ(oracle.requests.size(), 1U);
  EXPECT_FALSE(oracle.requests[0].json_schema);
  EXPECT_GT(proposals[0].score.correction, proposals[1].score.correction);  // it has been paid for
  const auto applied = model.apply(original, proposals[0], 0, context, never);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(oracle.requests.size(), 1U);
  EXPECT_TRUE(evaluator->evaluate(*applied, config.writing.evaluation, never).correct());
  // The second is written when it is asked for, and so is the first if it is once more.
  oracle.say({"DECLINE: no"});
  EXPECT_FALSE(model.apply(original, proposals[1], 0, context, never));
  EXPECT_FALSE(model.apply(original, proposals[0], 0, context, never));
  EXPECT_EQ(oracle.requests.size(), 3U);
}

TEST_F(StepChooser, WhatCannotBeReadCountsAsNoAnswer) {
  config.choosing.style = llm::AskingStyle::together;
  const auto proposals = chosen("I would tile it.\n" + answer("smem_transpose.0.md"));
  EXPECT_GT(proposals.size(), 3U);
  for (const StepProposal& proposal : proposals)
    EXPECT_EQ(proposal.advice.opinions, 0);
}

}  // namespace
}  // namespace regraph::test::step_chooser_test
