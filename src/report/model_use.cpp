#include "report/model_use.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace regraph {

namespace {

using Json = nlohmann::ordered_json;

// Names that a model made up are foreign text: many of them would drown the rest.
constexpr std::size_t kMostNewSteps = 20;

std::string tokens_text(std::int64_t tokens) {
  if (tokens < 10'000) return fmt::format("{}", tokens);
  if (tokens < 10'000'000) return fmt::format("{:.1f}k", static_cast<double>(tokens) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(tokens) / 1e6);
}

std::string percent_text(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "0 %";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string cost_text(const llm::ChatStatistics& chat) {
  if (!chat.priced) return "";
  return chat.dollars < 0.1 ? fmt::format(", ${:.4f}", chat.dollars)
                            : fmt::format(", ${:.2f}", chat.dollars);
}

Json failures_json(const llm::ChatStatistics& chat) {
  Json json = Json::object();
  for (int index = 0; index < llm::kChatFailureCount; ++index) {
    const int count = chat.failures[static_cast<std::size_t>(index)];
    if (count > 0) json[llm::name(static_cast<llm::ChatFailure>(index))] = count;
  }
  return json;
}

Json verdicts_json(const llm::ExpansionStatistics& expansion) {
  Json json = Json::object();
  for (int index = 0; index < kVerdictCount; ++index) {
    const int count = expansion.verdicts[static_cast<std::size_t>(index)];
    if (count > 0) json[name(static_cast<Verdict>(index))] = count;
  }
  return json;
}

std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [key, count] : counts.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<int>(), key);
  return text;
}

}  // namespace

Json model_use_json(const ModelUse& use) {
  const llm::ChatStatistics& chat = use.chat;
  const llm::ExpansionStatistics& expansion = use.expansion;
  Json steps = Json::array();
  for (const auto& [id, step] : expansion.new_steps) {
    if (steps.size() == kMostNewSteps) break;
    steps.push_back({{"step", id}, {"named", step.named}, {"why", step.why}});
  }
  return {{"expander", use.expander},
          {"model", use.model},
          {"from", use.from},
          {"requests", chat.asked},
          {"answered", chat.answered},
          {"from_store", chat.from_store},
          {"sent", chat.attempts},
          {"saved", use.saved_requests},
          {"failures", failures_json(chat)},
          {"first_failure", chat.first_failure},
          {"prompt_tokens", chat.usage.prompt_tokens},
          {"cached_tokens", chat.usage.cached_tokens},
          {"prefix_tokens", chat.prefix_tokens},
          {"completion_tokens", chat.usage.completion_tokens},
          {"reasoning_tokens", chat.usage.reasoning_tokens},
          {"estimated_answers", chat.estimated},
          {"dollars", chat.priced ? Json(chat.dollars) : Json()},
          {"budget_spent", chat.spent},
          {"waiting_seconds", chat.seconds},
          {"applications", expansion.applications},
          {"candidates", expansion.candidates},
          {"declined", expansion.declined},
          {"no_answer", expansion.no_answer},
          {"rejected", Json(expansion.rejected)},
          {"verdicts", verdicts_json(expansion)},
          {"repairs", expansion.repairs},
          {"repaired", expansion.repaired},
          {"judged", expansion.judged},
          {"proposals_asked", expansion.proposals_asked},
          {"proposals_of_use", expansion.proposals_of_use},
          {"empty_lists", expansion.empty_lists},
          {"not_asked_at_floor", expansion.at_floor},
          {"not_asked_beside_the_point", expansion.beside_the_point},
          {"not_asked_left_behind", expansion.left_behind},
          {"taken_back", expansion.taken_back},
          {"named_steps", Json(expansion.named_steps)},
          {"new_steps", std::move(steps)}};
}

std::string model_use_text(const ModelUse& use) {
  const llm::ChatStatistics& chat = use.chat;
  const llm::ExpansionStatistics& expansion = use.expansion;
  std::string text = fmt::format(
      "  model       {} at {}: {} of {} requests answered, {} tokens in, {} out{}{}\n", use.model,
      use.from, chat.answered, chat.asked, tokens_text(chat.usage.prompt_tokens),
      tokens_text(chat.usage.completion_tokens), cost_text(chat),
      chat.from_store > 0 ? fmt::format("; {} were known already", chat.from_store) : "");
  if (chat.usage.prompt_tokens > 0) {
    text +=
        fmt::format("              {} of the tokens in stood at the beginning of earlier requests",
                    percent_text(chat.prefix_tokens, chat.usage.prompt_tokens));
    if (chat.usage.cached_tokens > 0)
      text +=
          fmt::format("; the server had {} in its cache", tokens_text(chat.usage.cached_tokens));
    text += '\n';
  }
  if (chat.usage.reasoning_tokens > 0) {
    text += fmt::format("              {} of the tokens out were thoughts\n",
                        percent_text(chat.usage.reasoning_tokens, chat.usage.completion_tokens));
  }
  if (expansion.declined > 0)
    text += fmt::format("              it declined {} steps\n", expansion.declined);
  if (expansion.empty_lists > 0) {
    text += fmt::format("              at {} states it said that nothing would pay\n",
                        expansion.empty_lists);
  }
  const std::string verdicts = counts_text(verdicts_json(expansion));
  if (!verdicts.empty()) text += "              its candidates: " + verdicts + "\n";
  const std::string rejected = counts_text(Json(expansion.rejected));
  if (!rejected.empty()) text += "              answers that were none: " + rejected + "\n";
  if (expansion.repairs > 0) {
    text += fmt::format("              {} sent back with the reason, {} right then\n",
                        expansion.repairs, expansion.repaired);
  }
  const std::string failures = counts_text(failures_json(chat));
  if (!failures.empty()) {
    text += fmt::format("              not answered: {}; the first: {}\n", failures,
                        chat.first_failure);
  }
  if (chat.spent) text += "              the model's budget is used up\n";
  return text;
}

std::string model_use_live(const llm::ChatStatistics& chat) {
  return fmt::format("model {}/{} answered, {} tokens{}", chat.answered, chat.asked,
                     tokens_text(chat.tokens()), cost_text(chat));
}

}  // namespace regraph
