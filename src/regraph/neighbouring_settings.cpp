#include "regraph/neighbouring_settings.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace regraph {
namespace {

constexpr double kShareOfNeighbour = 0.5;
constexpr int kSmallestNumber = 4;

std::optional<int> number_in(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number >= kSmallestNumber ? std::optional(number) : std::nullopt;
}

bool are_close(const std::string& a, const std::string& b) {
  const auto first = number_in(a);
  const auto second = number_in(b);
  return first && second && std::max(*first, *second) <= 2 * std::min(*first, *second);
}

// Of one step's proposals, by their places.
void spread(std::span<const StepProposal> proposals, std::vector<std::size_t> left,
            std::vector<double>& priors) {
  const auto sum_of = [&](const std::vector<std::size_t>& places) {
    return std::accumulate(places.begin(), places.end(), 0.0,
                           [&](double sum, std::size_t at) { return sum + priors[at]; });
  };
  const std::vector<std::size_t> all = left;
  const double before = sum_of(all);
  std::set<std::size_t> halved;
  while (!left.empty()) {
    const auto best =
        std::ranges::max_element(left, {}, [&](std::size_t at) { return priors[at]; });
    const std::size_t taken = *best;
    left.erase(best);
    for (const std::size_t at : left) {
      if (are_neighbours(proposals[taken], proposals[at]) && halved.insert(at).second)
        priors[at] *= kShareOfNeighbour;
    }
  }
  const double after = sum_of(all);
  if (!(after > 0.0)) return;
  for (const std::size_t at : all)
    priors[at] *= before / after;
}

}  // namespace

bool are_neighbours(const StepProposal& a, const StepProposal& b) {
  if (a.step != b.step || a.parameters.size() != b.parameters.size()) return false;
  bool differs = false;
  auto other = b.parameters.begin();
  for (const auto& [name, value] : a.parameters) {
    const auto& [other_name, other_value] = *other++;
    if (name != other_name) return false;
    if (value == other_value) continue;
    if (differs || !are_close(value, other_value)) return false;
    differs = true;
  }
  return differs;
}

void spread_over_settings(std::span<const StepProposal> proposals, std::vector<double>& priors) {
  std::map<std::string_view, std::vector<std::size_t>> by_step;
  for (std::size_t at = 0; at < proposals.size(); ++at)
    by_step[proposals[at].step].push_back(at);
  for (auto& [step, places] : by_step)
    if (places.size() > 1) spread(proposals, std::move(places), priors);
}

}  // namespace regraph
