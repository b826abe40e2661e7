#include "rewrite/candidate_state.h"

#include "source/printer.h"

#include <utility>

namespace regraph::rewrite {

Result<KernelState> state_of(const Candidate& candidate, const LaunchView& view) {
  const auto* form = dynamic_cast<const source::UnitForm*>(candidate.form.get());
  if (form == nullptr) return refuse("the kernel is opaque to the rewriter");
  auto plan = view.out_of(candidate.plan);
  if (!plan) return std::move(plan).error();
  return KernelState{form->unit(), std::move(*plan), candidate.assumptions};
}

Candidate candidate_of(KernelState state, const Candidate& from, const LaunchView& view) {
  Candidate result =
      source::make_candidate(std::move(state.unit), view.back_into(from.plan, state.plan));
  result.assumptions = std::move(state.assumptions);
  return result;
}

}  // namespace regraph::rewrite
