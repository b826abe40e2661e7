#include "rewrite/ast_rewriter.h"

#include "rewrite/candidate_state.h"
#include "rewrite/step_views.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/missing_operand.h"

#include <optional>
#include <utility>

namespace regraph::rewrite {

std::vector<StepProposal> AstRewriter::propose(const Candidate& candidate, const ExpansionContext&,
                                               const Cancellation& cancellation) const {
  auto proposals = without_missing_operands(
      [&]() -> Result<std::vector<StepProposal>> { return matching(candidate, cancellation); });
  return proposals ? std::move(*proposals) : std::vector<StepProposal>();
}

std::vector<StepProposal> AstRewriter::matching(const Candidate& candidate,
                                                const Cancellation& cancellation) const {
  std::vector<StepProposal> proposals;
  const auto state = state_of(candidate, view_);
  if (!state) return proposals;
  const StepViews views(*state, view_.problem(), limits_);
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& setting : step->settings()) {
      if (cancellation.requested()) return {};
      if (!views.match(*step, setting)) continue;
      proposals.push_back({.step = std::string(step->id()), .parameters = setting});
    }
  }
  return proposals;
}

Result<Candidate> AstRewriter::apply(const Candidate& candidate, const StepProposal& proposal, int,
                                     const ExpansionContext&,
                                     const Cancellation& cancellation) const {
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "stopped");
  const StepRewriter* step = find_built_in_step(proposal.step);
  if (step == nullptr) return refuse("the rewriter has no step '" + proposal.step + "'");
  auto state = state_of(candidate, view_);
  if (!state) return state.error();
  return without_missing_operands([&]() -> Result<Candidate> {
    auto rewritten = StepViews(*state, view_.problem(), limits_).apply(*step, proposal.parameters);
    if (!rewritten) return rewritten.error();
    return candidate_of(std::move(*rewritten), candidate, view_);
  });
}

std::map<std::string, std::string> AstRewriter::refusals(const Candidate& candidate) const {
  std::map<std::string, std::string> reasons;
  const auto state = state_of(candidate, view_);
  std::optional<StepViews> views;
  const Status opened = without_missing_operands([&]() -> Status {
    if (!state) return state.error();
    views.emplace(*state, view_.problem(), limits_);
    return {};
  });
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& setting : step->settings()) {
      const Status status = opened ? views->match(*step, setting) : opened;
      if (status) continue;
      const StepProposal proposal{.step = std::string(step->id()), .parameters = setting};
      reasons[proposal.text()] = status.error().message;
    }
  }
  return reasons;
}

}  // namespace regraph::rewrite
