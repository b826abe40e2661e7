#include "regraph/combined_steps.h"

#include <charconv>
#include <string_view>

namespace regraph {

namespace {

constexpr std::string_view kBetween = " + ";

const std::string* value_of(const StepProposal& proposal, const char* name) {
  const auto found = proposal.parameters.find(name);
  return found == proposal.parameters.end() ? nullptr : &found->second;
}

}  // namespace

bool is_combined(const StepProposal& proposal) {
  return proposal.step == kLeap || proposal.step == kCombine;
}

std::string plan_text(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) {
    if (!text.empty()) text += kBetween;
    text += step;
  }
  return text;
}

std::vector<std::string> planned_steps(const StepProposal& leap) {
  std::vector<std::string> steps;
  const std::string* plan = value_of(leap, kPlan);
  if (plan == nullptr) return steps;
  std::string_view rest = *plan;
  while (!rest.empty()) {
    const std::size_t end = rest.find(kBetween);
    if (end > 0) steps.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + kBetween.size());
  }
  return steps;
}

std::vector<std::string> steps_of(const StepProposal& proposal) {
  if (proposal.step == kLeap) {
    if (std::vector<std::string> steps = planned_steps(proposal); !steps.empty()) return steps;
  }
  return {proposal.step};
}

std::optional<std::uint32_t> state_to_combine(const StepProposal& proposal) {
  if (proposal.step != kCombine) return std::nullopt;
  const std::string* with = value_of(proposal, kWith);
  if (with == nullptr) return std::nullopt;
  std::uint32_t state = 0;
  const char* const end = with->data() + with->size();
  const auto [parsed, error] = std::from_chars(with->data(), end, state);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return state;
}

}  // namespace regraph
