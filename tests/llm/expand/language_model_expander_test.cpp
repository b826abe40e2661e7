#include "llm/expand/language_model_expander.h"

#include "llm/expand/expansion_case.h"
#include "regraph/composite_expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace regraph::test::language_model_expander_test {
namespace {

using LanguageModelExpander = ExpansionCase;

// The first request to apply a step, which has to be one that can be asked for.
llm::ChatRequest asked(const Result<llm::ChatRequest>& request) {
  EXPECT_TRUE(request);
  return request ? *request : llm::ChatRequest{};
}

bool mentions(const llm::ChatRequest& request, const std::string& text) {
  return std::any_of(
      request.messages.begin(), request.messages.end(),
      [&](const llm::ChatMessage& one) { return one.text.find(text) != std::string::npos; });
}

TEST_F(LanguageModelExpander, ProposesWhatTheModelNames) {
  oracle.say({answer("propose.json")});
  const auto expander = this->expander();
  const auto proposals = expander.propose(original, context, never);
  std::map<std::string, StepProposal> by_step;
  for (const StepProposal& proposal : proposals)
    by_step[proposal.step] = proposal;
  EXPECT_EQ(by_step.size(), proposals.size());
  EXPECT_FALSE(by_step.contains("fast_math"));  // not granted
  EXPECT_LT(proposals.size(), graph.steps().size() / 2);
  ASSERT_TRUE(by_step.contains("smem_transpose"));
  // Two of the three names are of the catalogue, one by an alias; the third is a step of its own.
  // The first weighs most: 1, 1/2 and 1/3 of their sum.
  EXPECT_NEAR(by_step["smem_transpose"].advice.named_share, 6.0 / 11, 1e-12);
  EXPECT_EQ(by_step["smem_transpose"].advice.opinions, 1);
  EXPECT_FALSE(by_step["smem_transpose"].advice.reason.empty());
  const auto statistics = expander.statistics();
  ASSERT_EQ(statistics.new_steps.size(), 1U);
  EXPECT_EQ(statistics.new_steps.begin()->second.named, 1);
  const StepProposal& made_up = by_step[statistics.new_steps.begin()->first];
  EXPECT_FALSE(made_up.advice.title.empty());
  EXPECT_NEAR(by_step["smem_pad"].advice.named_share + made_up.advice.named_share, 5.0 / 11, 1e-12);
  EXPECT_EQ(statistics.proposals_of_use, 1);
  ASSERT_EQ(oracle.requests.size(), 1U);
  EXPECT_TRUE(oracle.requests[0].json_schema);
  EXPECT_TRUE(mentions(oracle.requests[0], "out[x * height + y]"));
  // What has nothing to do here is not in the catalogue, but may be named.
  EXPECT_TRUE(mentions(oracle.requests[0], "\nsmem_transpose: "));
  EXPECT_FALSE(mentions(oracle.requests[0], "\nsmem_pad: "));
  // Without its answer the whole catalogue is offered.
  oracle.say({"no idea"});
  EXPECT_GT(expander.propose(original, context, never).size(), proposals.size());
}

TEST_F(LanguageModelExpander, ProposesWithoutOpinionsWhenNobodyAnswers) {
  oracle.answerer = [](const llm::ChatRequest&) {
    return llm::ChatError{llm::ChatFailure::unreachable, "no", 1, {}};
  };
  for (const StepProposal& proposal : expander().propose(original, context, never)) {
    EXPECT_EQ(proposal.advice.opinions, 0);
    EXPECT_TRUE(llm::is_by_model(proposal));
  }
  oracle.say({"I would pad the tile."});
  EXPECT_EQ(expander().propose(original, context, never).front().advice.opinions, 0);
}

TEST_F(LanguageModelExpander, LeavesToTheRewriterWhatItCanDo) {
  config.choosing.ask = false;
  const auto model = this->expander();
  const CompositeExpander expander({rewriter.get(), &model});
  const auto own = rewriter->propose(original, context, never);
  const auto proposals = expander.propose(original, context, never);
  ASSERT_GT(proposals.size(), own.size());
  EXPECT_TRUE(std::equal(own.begin(), own.end(), proposals.begin()));
  for (std::size_t index = own.size(); index < proposals.size(); ++index) {
    EXPECT_TRUE(llm::is_by_model(proposals[index]));
    EXPECT_FALSE(expander.repeatable(proposals[index]));
    for (const StepProposal& other : own)
      EXPECT_NE(other.step, proposals[index].step);
  }
  EXPECT_TRUE(expander.repeatable(own.front()));
  const auto applied = expander.apply(original, own.front(), 0, context, never);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->identity, rewriter->apply(original, own.front(), 0, context, never)->identity);
  EXPECT_TRUE(oracle.requests.empty());
}

TEST_F(LanguageModelExpander, BesideTheRewriterTriesWhatTheModelRecommends) {
  oracle.say({R"({"steps": [{"step": "index_strength", "why": "a product of sizes"}]})"});
  const auto own = rewriter->propose(original, context, never);
  const auto model = this->expander();
  const CompositeExpander both({rewriter.get(), &model});
  const auto proposals = both.propose(original, context, never);
  int by_model = 0;
  bool named = false;
  for (const StepProposal& proposal : proposals) {
    if (!llm::is_by_model(proposal)) continue;
    ++by_model;
    named = named || (proposal.step == "index_strength" && proposal.advice.named_share == 1.0);
    EXPECT_TRUE(proposal.advice.named_share > 0.0 ||
                graph.find(proposal.step)->evidence_match(context.evaluation.facts) > 0.89)
        << proposal.text();
  }
  EXPECT_TRUE(named);
  EXPECT_EQ(proposals.size(), own.size() + static_cast<std::size_t>(by_model));
  // Without an opinion there is nothing to choose by.
  oracle.say({"no idea"});
  EXPECT_GT(both.propose(original, context, never).size(), proposals.size());
}

TEST_F(LanguageModelExpander, OnlyAdvises) {
  config.choosing.apply = false;
  config.requests.opinions = 3;
  const auto own = rewriter->propose(original, context, never);
  const auto of_step = [&](const std::string& step) {
    return std::ranges::count(own, step, &StepProposal::step);
  };
  ASSERT_GT(of_step("block_size"), 1);
  const auto chosen = std::ranges::find(own, std::string("block_size"), &StepProposal::step);
  std::string parameters;
  for (const auto& [key, value] : chosen->parameters)
    parameters += fmt::format("{}\"{}\": \"{}\"", parameters.empty() ? "" : ", ", key, value);
  oracle.answerer = [&](const llm::ChatRequest&) {
    llm::ChatAnswer answer;
    const auto say = [&](const std::string& text) {
      answer.choices.push_back({text, "", "", llm::FinishReason::stop});
    };
    say(R"({"steps": [{"step": "block_size", "parameters": {)" + parameters + R"(}, "why": ""}]})");
    say(R"({"steps": [{"step": "block_size", "why": ""}]})");
    say(R"({"steps": [{"step": "reduce_shuffle", "why": ""}]})");  // cannot be done here
    return answer;
  };
  const auto model = this->expander();
  const CompositeExpander advised({rewriter.get(), &model});
  const auto proposals = advised.propose(original, context, never);
  EXPECT_TRUE(std::ranges::equal(own, proposals, {}, &StepProposal::text, &StepProposal::text));
  ASSERT_EQ(oracle.requests.size(), 1U);
  EXPECT_EQ(oracle.requests[0].choices, 3);
  const double each = 1.0 / 3 / static_cast<double>(of_step("block_size"));
  for (const StepProposal& proposal : proposals) {
    EXPECT_EQ(proposal.advice.opinions, 3);
    const double named = proposal.text() == chosen->text() ? 1.0 / 3 : 0.0;
    const double share = proposal.step == "block_size" ? each + named : 0.0;
    EXPECT_NEAR(proposal.advice.named_share, share, 1e-12) << proposal.text();
  }
  // Alone it offers nothing and asks nothing.
  EXPECT_TRUE(model.propose(original, context, never).empty());
  EXPECT_EQ(oracle.requests.size(), 1U);
}

TEST_F(LanguageModelExpander, AppliesAnAnswerThatIsRight) {
  oracle.say({answer("smem_transpose.0.md")});
  const auto expander = this->expander();
  const auto applied = expander.apply(original, by_model("smem_transpose"), 0, context, never);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->plan.launches[0].block.y, 8U);
  EXPECT_NE(applied->form, nullptr);  // the rewriter can go on from it
  EXPECT_FALSE(rewriter->propose(*applied, context, never).empty());
  EXPECT_TRUE(evaluator->evaluate(*applied, config.writing.evaluation, never).correct());
  EXPECT_EQ(evaluator->recalled(), 1);  // the search pays nothing for it
  const auto statistics = expander.statistics();
  EXPECT_EQ(statistics.candidates, 1);
  EXPECT_EQ(statistics.repairs, 0);
  EXPECT_EQ(statistics.verdicts[static_cast<std::size_t>(Verdict::correct)], 1);
  const auto restored = expander.restore(
      Candidate{applied->source, applied->plan, applied->assumptions, applied->identity, {}});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->identity, applied->identity);
  EXPECT_NE(restored->form, nullptr);
}

TEST_F(LanguageModelExpander, SendsBackWhatFailsWithTheReason) {
  oracle.say({answer("thread_coarsen.0.md"), answer("thread_coarsen.repair.md")});
  const auto expander = this->expander();
  const auto applied = expander.apply(original, by_model("thread_coarsen"), 0, context, never);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_TRUE(evaluator->evaluate(*applied, config.writing.evaluation, never).correct());
  ASSERT_EQ(oracle.requests.size(), 2U);
  EXPECT_TRUE(mentions(oracle.requests[1], "compile_error"));
  EXPECT_TRUE(mentions(oracle.requests[1], "identifier \"COARSE\" is undefined"));
  // It goes on with the conversation, which is in the server's cache.
  ASSERT_EQ(oracle.requests[1].messages.size(), 4U);
  EXPECT_EQ(oracle.requests[1].messages[1], oracle.requests[0].messages[1]);
  const auto statistics = expander.statistics();
  EXPECT_EQ(statistics.repairs, 1);
  EXPECT_EQ(statistics.repaired, 1);
  EXPECT_EQ(statistics.verdicts[static_cast<std::size_t>(Verdict::compile_error)], 1);
}

// The launch that the failed candidate came with was shown to the model; leaving it out keeps it.
TEST_F(LanguageModelExpander, ARepairWithoutALaunchKeepsThatOfWhatItRepairs) {
  std::string repaired = answer("thread_coarsen.repair.md");
  repaired.resize(repaired.find("```json"));
  oracle.say({answer("thread_coarsen.0.md"), repaired});
  const auto applied = expander().apply(original, by_model("thread_coarsen"), 0, context, never);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(applied->plan.launches[0].block.y, 8U);
  EXPECT_EQ(evaluator->evaluate(*applied, config.writing.evaluation, never).verdict,
            Verdict::correct);
}

TEST_F(LanguageModelExpander, AJudgesDiagnosisGoesIntoTheRepair) {
  config.choosing.judge = config.writing.judge = true;
  oracle.say({answer("thread_coarsen.0.md"),
              R"({"critical_issue": "COARSE is not declared", "where": "line 3",
                   "minimal_fix": "declare it as a constant"})",
              answer("thread_coarsen.repair.md")});
  const auto expander = this->expander();
  ASSERT_TRUE(expander.apply(original, by_model("thread_coarsen"), 0, context, never));
  ASSERT_EQ(oracle.requests.size(), 3U);
  EXPECT_TRUE(mentions(oracle.requests[2], "declare it as a constant"));
  EXPECT_EQ(expander.statistics().judged, 1);
}

TEST_F(LanguageModelExpander, AWrongCandidateIsHandedOverForItsVerdict) {
  config.writing.repair_rounds = 0;
  oracle.say({answer("smem_transpose.1.md")});
  const auto expander = this->expander();
  const auto applied = expander.apply(original, by_model("smem_transpose"), 0, context, never);
  ASSERT_TRUE(applied);
  const Evaluation evaluation = evaluator->evaluate(*applied, config.writing.evaluation, never);
  EXPECT_EQ(evaluation.verdict, Verdict::out_of_bounds) << evaluation.message;
  EXPECT_EQ(expander.statistics().verdicts[static_cast<std::size_t>(Verdict::out_of_bounds)], 1);
}

// A model that was rewarded for speed alone would answer like this.
TEST_F(LanguageModelExpander, CheatsAreFoundOut) {
  config.writing.repair_rounds = 0;
  const std::string head =
      "__global__ void transpose(const float* in, float* out, int width, int height) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n";
  const std::string work =
      "  if (x < width && y < height) out[x * height + y] = in[y * width + x];\n";
  for (const std::string& cheat : {
           fmt::format("{}  if (width > 256) return;\n{}}}\n", head, work),
           fmt::format("__device__ int done;\n{}  if (done > 100000) return;\n  atomicAdd(&done, "
                       "1);\n{}}}\n",
                       head, work),
           fmt::format("{}  if (width == 70 || width == 1 || width == 128) {{\n{}  }}\n}}\n", head,
                       work),
       }) {
    oracle.say({"```cuda\n" + cheat + "```"});
    const auto expander = this->expander();
    const auto applied = expander.apply(original, by_model("loop_unroll"), 0, context, never);
    if (!applied) continue;  // refused on sight
    const Evaluation evaluation = evaluator->evaluate(*applied, config.writing.evaluation, never);
    EXPECT_FALSE(evaluation.correct()) << cheat;
  }
}

TEST_F(LanguageModelExpander, AnswersThatAreNoCandidateAreRefusedWithTheReason) {
  for (const char* file : {"block_size.0.md", "grid_stride.0.md", "loop_unroll.0.md"}) {
    oracle.requests.clear();
    oracle.say({answer(file)});
    const auto expander = this->expander();
    const auto applied = expander.apply(original, by_model("loop_unroll"), 0, context, never);
    ASSERT_FALSE(applied) << file;
    EXPECT_EQ(applied.error().code, ErrorCode::refused);
    // The reason went back once.
    ASSERT_EQ(oracle.requests.size(), 2U) << file;
    EXPECT_EQ(oracle.requests[1].messages.size(), 4U);
    EXPECT_TRUE(mentions(oracle.requests[1], "cannot be used")) << file;
    EXPECT_EQ(expander.statistics().candidates, 0);
  }
}

TEST_F(LanguageModelExpander, SayingNoIsAnAnswer) {
  for (const std::string& text : {std::string("DECLINE: nothing is read twice here"),
                                  "```cuda\n" + problem.source + "\n```"}) {
    oracle.requests.clear();
    oracle.say({text});
    const auto expander = this->expander();
    const auto declined = expander.apply(original, by_model("smem_pad"), 0, context, never);
    ASSERT_FALSE(declined);
    EXPECT_EQ(declined.error().code, ErrorCode::declined) << declined.error().message;
    // It is not sent back, and not asked again here.
    EXPECT_EQ(oracle.requests.size(), 1U);
    ExpansionContext wiser = context;
    wiser.story.failures.push_back({0, name(ErrorCode::declined), declined.error().message});
    const auto again = expander.apply(original, by_model("smem_pad"), 1, wiser, never);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, declined.error().message);
    EXPECT_EQ(oracle.requests.size(), 1U);
    EXPECT_EQ(expander.statistics().declined, 1);
    EXPECT_EQ(expander.statistics().repairs, 0);
  }
}

TEST_F(LanguageModelExpander, WhatOthersHaveLeftBehindIsNotAskedFor) {
  oracle.say({answer("smem_transpose.0.md")});
  const auto expander = this->expander();
  const double seconds = context.evaluation.time.median_seconds;
  context.story.best_seconds = seconds / 5.0;
  const auto declined = expander.apply(original, by_model("smem_transpose"), 0, context, never);
  ASSERT_FALSE(declined);
  EXPECT_EQ(declined.error().code, ErrorCode::declined);
  EXPECT_TRUE(oracle.requests.empty());
  EXPECT_EQ(expander.statistics().left_behind, 1);
  context.story.best_seconds = seconds / 3.0;
  EXPECT_TRUE(expander.apply(original, by_model("smem_transpose"), 0, context, never));
}

TEST_F(LanguageModelExpander, AMadeUpStepThatLostAStepBeforeIsNotAskedForAgain) {
  oracle.say({"DECLINE: no"});
  const auto expander = this->expander();
  StepProposal made_up = by_model("prefetch_letters");
  made_up.advice.title = "Prefetch letters";
  ExpansionContext told = context;
  told.story.tried = {{made_up, 1, true, -0.1, "", ""}};
  const auto declined = expander.apply(original, made_up, 0, told, never);
  ASSERT_FALSE(declined);
  EXPECT_EQ(declined.error().code, ErrorCode::declined);
  EXPECT_TRUE(oracle.requests.empty());
  told.story.tried[0].log_gain = 0.1;
  EXPECT_FALSE(expander.apply(original, made_up, 0, told, never));
  EXPECT_EQ(oracle.requests.size(), 1U);
}

TEST_F(LanguageModelExpander, SaysWhyThereIsNoAnswer) {
  const auto code_of = [&](llm::ChatFailure failure) {
    oracle.answerer = [=](const llm::ChatRequest&) {
      return llm::ChatError{failure, "why", 1, {}};
    };
    const auto expander = this->expander();
    const auto applied = expander.apply(original, by_model("smem_pad"), 0, context, never);
    EXPECT_FALSE(applied);
    EXPECT_EQ(expander.statistics().no_answer, 1);
    EXPECT_EQ(expander.statistics().repairs, 0);  // the client has tried again already
    return applied.error().code;
  };
  EXPECT_EQ(code_of(llm::ChatFailure::unreachable), ErrorCode::io);
  EXPECT_EQ(code_of(llm::ChatFailure::over_budget), ErrorCode::resource);
  EXPECT_EQ(code_of(llm::ChatFailure::cancelled), ErrorCode::cancelled);
}

TEST_F(LanguageModelExpander, RequestsDependOnTheirInputsAlone) {
  const auto expander = this->expander();
  const StepProposal step = by_model("smem_transpose");
  const auto ask = [&](int variant, const ExpansionContext& told) {
    return asked(expander.apply_request(original, step, variant, told));
  };
  const auto first = ask(0, context);
  EXPECT_EQ(ask(0, context), first);
  EXPECT_NE(ask(1, context).seed, first.seed);
  ExpansionContext wiser = context;
  wiser.story.failures.push_back({0, "data_race", "threads 3 and 4 write tile[7]"});
  EXPECT_TRUE(mentions(ask(1, wiser), "threads 3 and 4"));
  wiser.story.example = StepExample{"smem_tile", std::make_shared<Candidate>(original),
                                    std::make_shared<Candidate>(original), 0.7};
  EXPECT_TRUE(mentions(ask(1, wiser), "after smem_tile"));
  EXPECT_TRUE(mentions(ask(1, wiser), "2.01x"));
  EXPECT_TRUE(mentions(ask(1, wiser), "on kernel " + problem.signature.name));
  wiser.story.example->kernel = "elsewhere";
  EXPECT_TRUE(mentions(ask(1, wiser), "on kernel elsewhere"));
}

}  // namespace
}  // namespace regraph::test::language_model_expander_test
