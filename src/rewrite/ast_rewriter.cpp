#include "rewrite/ast_rewriter.h"

#include "rewrite/steps/steps.h"
#include "source/printer.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace regraph::rewrite {

const std::vector<const StepRewriter*>& built_in_steps() {
  static const std::vector<std::unique_ptr<StepRewriter>> kOwned = [] {
    std::vector<std::unique_ptr<StepRewriter>> steps;
    steps.push_back(make_coalesce_swap());
    steps.push_back(make_block_size());
    steps.push_back(make_thread_coarsen());
    steps.push_back(make_smem_tile());
    steps.push_back(make_smem_transpose());
    steps.push_back(make_smem_pad());
    steps.push_back(make_loop_unroll());
    steps.push_back(make_restrict_ldg());
    steps.push_back(make_launch_bounds());
    steps.push_back(make_reduce_shuffle());
    steps.push_back(make_cross_thread_reduction());
    steps.push_back(make_smem_halo());
    steps.push_back(make_atomic_privatize());
    steps.push_back(make_grid_stride());
    steps.push_back(make_vectorize_global());
    steps.push_back(make_multi_accumulator());
    steps.push_back(make_fast_math());
    return steps;
  }();
  static const std::vector<const StepRewriter*> kSteps = [] {
    std::vector<const StepRewriter*> steps;
    for (const auto& step : kOwned)
      steps.push_back(step.get());
    return steps;
  }();
  return kSteps;
}

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
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& parameters : step->choices()) {
      if (!step->apply(*state, parameters, view_.problem())) continue;
      proposals.push_back({.step = std::string(step->id()), .parameters = parameters});
    }
  }
  return proposals;
}

Result<Candidate> AstRewriter::apply(const Candidate& candidate, const StepProposal& proposal, int,
                                     const ExpansionContext&, const Cancellation&) const {
  const auto& steps = built_in_steps();
  const auto step = std::find_if(
      steps.begin(), steps.end(),
      [&](const StepRewriter* candidate_step) { return candidate_step->id() == proposal.step; });
  if (step == steps.end()) return refuse("the rewriter has no step '" + proposal.step + "'");
  auto state = state_of(candidate, view_);
  if (!state) return state.error();
  auto rewritten = (*step)->apply(*state, proposal.parameters, view_.problem());
  if (!rewritten) return rewritten.error();
  Candidate result = source::make_candidate(std::move(rewritten->unit),
                                            view_.back_into(candidate.plan, rewritten->plan));
  result.assumptions = std::move(rewritten->assumptions);
  return result;
}

std::map<std::string, std::string> AstRewriter::refusals(const Candidate& candidate) const {
  std::map<std::string, std::string> reasons;
  const auto state = state_of(candidate, view_);
  for (const StepRewriter* step : built_in_steps()) {
    for (const StepParameters& parameters : step->choices()) {
      const std::string name =
          StepProposal{.step = std::string(step->id()), .parameters = parameters}.text();
      if (!state) {
        reasons[name] = state.error().message;
        continue;
      }
      if (const auto result = step->apply(*state, parameters, view_.problem()); !result) {
        reasons[name] = result.error().message;
      }
    }
  }
  return reasons;
}

}  // namespace regraph::rewrite
