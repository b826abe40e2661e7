#include "report/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace regraph {
namespace {

constexpr std::size_t kStepWidth = 44;  // as in the list of proposals

}  // namespace

std::string refusals_text(const std::map<std::string, std::string>& refusals,
                          const std::vector<StepProposal>& proposals) {
  struct Refusal {
    std::string reason;
    std::string setting;  // the first that has it
    int others = 0;
  };
  std::map<std::string, std::vector<Refusal>> steps;
  for (const auto& [setting, reason] : refusals) {
    auto& reasons = steps[setting.substr(0, setting.find('('))];
    const auto known = std::ranges::find(reasons, reason, &Refusal::reason);
    if (known != reasons.end()) {
      ++known->others;
    } else {
      reasons.push_back({reason, setting});
    }
  }
  std::string text;
  for (const auto& [step, reasons] : steps) {
    const bool proposed =
        std::ranges::find(proposals, step, &StepProposal::step) != proposals.end();
    for (const Refusal& refusal : reasons) {
      const bool whole = reasons.size() == 1 && !proposed;
      std::string what = whole ? step : refusal.setting;
      if (!whole && refusal.others > 0) what += fmt::format(" and {} more", refusal.others);
      std::string reason = refusal.reason;
      std::ranges::replace(reason, '\n', ' ');
      fmt::format_to(std::back_inserter(text), "  {:{}}  {}\n", what, kStepWidth, reason);
    }
  }
  return text;
}

}  // namespace regraph
