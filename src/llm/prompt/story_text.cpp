#include "llm/prompt/story_text.h"

#include "llm/prompt/facts_text.h"
#include "llm/prompt/prompt_text.h"
#include "regraph/combined_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace regraph::llm {

namespace {

constexpr std::size_t kLongestStep = 160;

std::string list_of(const std::vector<StepProposal>& steps) {
  std::vector<std::string> texts;
  texts.reserve(steps.size());
  for (const StepProposal& step : steps)
    texts.push_back(told_step(step));
  return fmt::format("{}", fmt::join(texts, ", then "));
}

std::string place_text(int steps_back) {
  if (steps_back == 0) return "here";
  if (steps_back == 1) return "a step before";
  return fmt::format("{} steps before", steps_back);
}

std::string all_lines(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string told_step(const StepProposal& step) {
  std::vector<std::string> values;
  for (const auto& [name, value] : step.parameters) {
    if (name != kAppliedBy) values.push_back(fmt::format("{} = {}", name, value));
  }
  std::string text = step.step;
  if (!step.advice.title.empty()) text += fmt::format(" [{}]", step.advice.title);
  if (!values.empty()) text += fmt::format(" ({})", fmt::join(values, ", "));
  return one_line(text, kLongestStep);
}

std::string factor_text(double log_gain) {
  const double factor = std::exp(log_gain);
  if (std::fabs(factor - 1.0) < 0.005) return "no difference";
  if (factor > 1.0) return fmt::format("{:.2f}x faster", factor);
  return fmt::format("{:.2f}x slower", 1.0 / factor);
}

std::string best_text(const PromptState& state) {
  const double best = state.context == nullptr ? 0.0 : state.context->story.best_seconds;
  const double own = state.evaluation.time.median_seconds;
  if (!(best > 0.0) || !(own > 0.0) || best >= own) return {};
  return fmt::format("The fastest state so far, elsewhere, takes {}.", time_text(best));
}

std::string original_text(const PromptState& state) {
  if (state.context == nullptr || !(state.context->original_seconds > 0.0)) return {};
  return fmt::format("The original takes {}.", time_text(state.context->original_seconds));
}

std::string path_text(const PromptState& state) {
  if (state.context == nullptr) return {};
  const std::vector<DoneStep>& path = state.context->story.path;
  std::vector<std::string> lines;
  for (std::size_t place = 0; place < path.size(); ++place) {
    const double before = path[place].seconds_before;
    const double after = place + 1 < path.size() ? path[place + 1].seconds_before
                                                 : state.evaluation.time.median_seconds;
    std::string line = fmt::format("{}. {}", place + 1, told_step(path[place].step));
    if (before > 0.0 && after > 0.0) {
      line += fmt::format(": {} -> {}, {}", time_text(before), time_text(after),
                          factor_text(std::log(before / after)));
    }
    lines.push_back(std::move(line));
  }
  return all_lines(lines);
}

std::string tried_text(const PromptState& state, const PromptLimits& limits) {
  if (state.context == nullptr) return {};
  const std::vector<TriedStep>& tried = state.context->story.tried;
  std::vector<std::string> lines;
  for (std::size_t place = tried.size() - std::min(tried.size(), limits.tried);
       place < tried.size(); ++place) {
    const TriedStep& one = tried[place];
    std::string line = fmt::format("{}, {}: ", told_step(one.step), place_text(one.steps_back));
    if (one.verified) {
      line += factor_text(one.log_gain);
    } else {
      line += one.reason;
      if (!one.message.empty()) line += ": " + one_line(one.message, limits.note);
    }
    lines.push_back(std::move(line));
  }
  return all_lines(lines);
}

std::string others_text(const PromptState& state, const PromptLimits& limits) {
  if (state.context == nullptr) return {};
  std::vector<std::string> lines;
  for (const OtherState& other : state.context->story.others)
    lines.push_back(fmt::format("{}: {}", other.state, other_path_text(other, limits)));
  return all_lines(lines);
}

std::string other_path_text(const OtherState& other, const PromptLimits& limits) {
  const std::string from =
      other.shared.empty() ? "the original" : "the state after " + list_of(other.shared);
  return one_line(fmt::format("from {} it went {}: {}", from, list_of(other.steps),
                              factor_text(other.log_gain)),
                  2 * limits.line);
}

std::string floor_text(const Evaluation& evaluation) {
  const double floor = evaluation.roofline_seconds;
  const double time = evaluation.time.median_seconds;
  if (!evaluation.correct() || !(floor > 0.0) || !(time > 0.0)) return {};
  return fmt::format(
      "{} by the bytes that must move and the arithmetic that must be done (roofline); the time is "
      "{:.2f} times that",
      time_text(floor), time / floor);
}

}  // namespace regraph::llm
