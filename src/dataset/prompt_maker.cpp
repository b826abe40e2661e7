#include "dataset/prompt_maker.h"

#include "llm/prompt/problem_text.h"
#include "session/expanders.h"
#include "session/language_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace regraph::dataset {

namespace {

// Nobody is asked; a name is all it takes.
constexpr const char* kNobody = "nobody";

Prompt prompt_of(const llm::ChatRequest& request) {
  Prompt prompt;
  for (const llm::ChatMessage& message : request.messages) {
    if (message.role == llm::Role::system) prompt.system = message.text;
    if (message.role == llm::Role::user) prompt.user = message.text;
  }
  return prompt;
}

}  // namespace

Result<PromptMaker, SessionError> PromptMaker::make(const Session& session,
                                                    const std::filesystem::path& prompts) {
  LanguageModelOptions options;
  options.expander = "llm";
  options.model = kNobody;
  options.prompts = prompts.string();
  options.no_store = true;
  auto expander = session.expander(options, session.configuration(), false);
  if (!expander) return std::move(expander).error();
  PromptMaker maker;
  maker.expander_ = std::move(*expander);
  return maker;
}

Prompt PromptMaker::apply(const Candidate& candidate, const Evaluation& evaluation,
                          const StepProposal& step) const {
  ExpansionContext context;
  context.evaluation = evaluation;
  const auto request = expander_->model()->expander().apply_request(candidate, step, 0, context);
  return request ? prompt_of(*request) : Prompt{};
}

Prompt PromptMaker::choose(const Candidate& candidate, const Evaluation& evaluation) const {
  ExpansionContext context;
  context.evaluation = evaluation;
  return prompt_of(expander_->model()->expander().propose_request(candidate, context));
}

std::string answer_for(const Candidate& parent, const Candidate& child, const std::string& kernel) {
  const bool ended = child.source.empty() || child.source.back() == '\n';
  std::string text = fmt::format("```cuda\n{}{}```\n", child.source, ended ? "" : "\n");
  const std::string launch = llm::launch_text(child.plan, kernel);
  if (launch != llm::launch_text(parent.plan, kernel))
    text += fmt::format("```json\n{}\n```\n", launch);
  return text;
}

std::string choice_of(const StepProposal& step) {
  nlohmann::ordered_json entry{{"step", step.step}};
  if (!step.parameters.empty()) entry["parameters"] = step.parameters;
  return nlohmann::ordered_json{{"steps", {entry}}}.dump();
}

}  // namespace regraph::dataset
