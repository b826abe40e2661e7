#include "report/failed_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace regraph {
namespace {

std::string line_of(const std::string& text, std::size_t at) {
  const std::size_t before = text.rfind('\n', at);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// The line that says what is wrong; warnings may stand before it.
std::string in_one_line(const Evaluation& evaluation) {
  const std::string& message = evaluation.message;
  const std::size_t error =
      evaluation.verdict == Verdict::compile_error ? message.find("error") : std::string::npos;
  const std::size_t first = error != std::string::npos ? error : message.find_first_not_of(" \n");
  return first == std::string::npos ? "" : line_of(message, first);
}

std::string described(const StepProposal& step, const Evaluation& evaluation,
                      std::string_view when) {
  std::string text = fmt::format("{}: {}{}", step.text(), name(evaluation.verdict), when);
  const std::string why = in_one_line(evaluation);
  if (!why.empty()) text += ": " + why;
  return text;
}

}  // namespace

std::vector<std::string> failed_steps(const SearchOutcome& outcome) {
  std::vector<std::string> lines;
  for (const StateRecord& state : outcome.states) {
    if (state.id == 0) continue;
    if (state.evaluation.verdict != Verdict::correct) {
      lines.push_back(described(state.step, state.evaluation, ""));
      continue;
    }
    const auto finalist = std::ranges::find(outcome.finalists, state.id, &FinalistRecord::state);
    if (finalist != outcome.finalists.end() && finalist->dropped &&
        finalist->evaluation.verdict != Verdict::correct) {
      lines.push_back(described(state.step, finalist->evaluation, " with fresh inputs"));
    }
  }
  return lines;
}

}  // namespace regraph
