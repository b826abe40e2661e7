#include "regraph/step_list.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

namespace regraph {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char character) {
    return std::isalnum(character) != 0 || character == '_' || character == '-' ||
           character == '.' || character == '+';
  });
}

std::optional<StepProposal> step_of(std::string_view entry) {
  StepProposal step;
  const std::size_t open = entry.find('(');
  const std::string_view name = trimmed(entry.substr(0, open));
  if (!is_name(name)) return std::nullopt;
  step.step = name;
  if (open == std::string_view::npos) return step;
  if (entry.back() != ')') return std::nullopt;
  std::string_view rest = entry.substr(open + 1, entry.size() - open - 2);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view pair = rest.substr(0, end);
    // A comma with nothing behind it.
    if (end + 1 == rest.size()) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = trimmed(pair.substr(0, equals));
    const std::string_view value = trimmed(pair.substr(equals + 1));
    if (!is_name(key) || !is_name(value)) return std::nullopt;
    if (!step.parameters.emplace(key, value).second) return std::nullopt;
  }
  return step;
}

}  // namespace

Result<std::vector<StepProposal>> parse_step_list(std::string_view text) {
  std::vector<StepProposal> steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(";#\n"), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    // A comment goes on to the end of its line, semicolons and all.
    const bool is_comment = end < text.size() && text[end] == '#';
    const std::size_t next = is_comment ? std::min(text.find('\n', end), text.size()) : end;
    text.remove_prefix(std::min(next + 1, text.size()));
    if (entry.empty()) continue;
    auto step = step_of(entry);
    if (!step) {
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(entry) +
                      "' is no step: write name(parameter=value, ...), with ; between steps");
    }
    steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace regraph
