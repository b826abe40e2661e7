#include "rewrite/ast_rewriter.h"

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/printer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

Result<KernelState> state_of(const Candidate& candidate, const LaunchView& view) {
  const auto* form = dynamic_cast<const source::UnitForm*>(candidate.form.get());
  if (form == nullptr) return refuse("the kernel is opaque to the rewriter");
  auto plan = view.out_of(candidate.plan);
  if (!plan) return std::move(plan).error();
  return KernelState{form->unit(), std::move(*plan), candidate.assumptions};
}

}  // namespace

std::vector<StepProposal> AstRewriter::propose(const Candidate& candidate, const ExpansionContext&,
                                               const Cancellation&) const {
  std::vector<StepProposal> proposals;
  const auto state = state_of(candidate, view_);
  if (!state) return proposals;
  const KernelAnalysis analysis(*state, view_.problem(), limits_);
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& setting : step->settings()) {
      if (!step->match(analysis, setting)) continue;
      proposals.push_back({.step = std::string(step->id()), .parameters = setting});
    }
  }
  return proposals;
}

Result<Candidate> AstRewriter::apply(const Candidate& candidate, const StepProposal& proposal, int,
                                     const ExpansionContext&, const Cancellation&) const {
  const StepRewriter* step = find_built_in_step(proposal.step);
  if (step == nullptr) return refuse("the rewriter has no step '" + proposal.step + "'");
  auto state = state_of(candidate, view_);
  if (!state) return state.error();
  auto rewritten =
      step->apply(KernelAnalysis(*state, view_.problem(), limits_), proposal.parameters);
  if (!rewritten) return rewritten.error();
  Candidate result = source::make_candidate(std::move(rewritten->unit),
                                            view_.back_into(candidate.plan, rewritten->plan));
  result.assumptions = std::move(rewritten->assumptions);
  return result;
}

std::map<std::string, std::string> AstRewriter::refusals(const Candidate& candidate) const {
  std::map<std::string, std::string> reasons;
  const auto state = state_of(candidate, view_);
  std::optional<KernelAnalysis> analysis;
  if (state) analysis.emplace(*state, view_.problem(), limits_);
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& setting : step->settings()) {
      const Status status = state ? step->match(*analysis, setting) : Status(state.error());
      if (status) continue;
      const StepProposal proposal{.step = std::string(step->id()), .parameters = setting};
      reasons[proposal.text()] = status.error().message;
    }
  }
  return reasons;
}

}  // namespace regraph::rewrite
