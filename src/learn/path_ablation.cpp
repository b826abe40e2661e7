#include "learn/path_ablation.h"

#include <algorithm>
#include <span>
#include <utility>

namespace regraph::learn {

namespace {

// The candidate and what the steps lead to, one after the other.
Result<std::vector<Candidate>> replay(const Candidate& start, const Expander& expander,
                                      std::span<const std::string> steps,
                                      const Cancellation& cancellation) {
  std::vector<Candidate> states = {start};
  for (const std::string& text : steps) {
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
    const auto offered = expander.propose(states.back(), {}, cancellation);
    const auto step = std::ranges::find(offered, text, &StepProposal::text);
    if (step == offered.end()) return fail(ErrorCode::refused, text + " is not offered");
    auto next = expander.apply(states.back(), *step, 0, {}, cancellation);
    if (!next) return std::move(next).error();
    states.push_back(std::move(*next));
  }
  return states;
}

}  // namespace

Result<AblatedPath> ablate_path(const Candidate& original, const Expander& expander,
                                const std::vector<std::string>& path,
                                const Cancellation& cancellation) {
  AblatedPath result;
  auto states = replay(original, expander, path, cancellation);
  if (!states) return std::move(states).error();
  result.states = std::move(*states);
  const std::span<const std::string> steps(path);
  for (std::size_t left_out = 0; left_out + 1 < path.size(); ++left_out) {
    auto others =
        replay(result.states[left_out], expander, steps.subspan(left_out + 1), cancellation);
    if (others) {
      result.ablations.push_back({path[left_out], std::move(others->back())});
    } else if (others.error().code == ErrorCode::cancelled) {
      return std::move(others).error();
    } else {
      result.skipped.push_back("without " + path[left_out] + " " + others.error().message);
    }
  }
  return result;
}

}  // namespace regraph::learn
