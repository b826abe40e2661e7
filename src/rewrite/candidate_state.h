// Between candidates and what steps transform.
#pragma once

#include "base/result.h"
#include "kernel/candidate.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/launch_view.h"

namespace regraph::rewrite {

// The candidate as steps see it. Error: refused, where it has no parsed form or the launch cannot
// be looked at alone.
[[nodiscard]] Result<KernelState> state_of(const Candidate& candidate, const LaunchView& view);

// The candidate that `state` is, made from `from` by a step.
[[nodiscard]] Candidate candidate_of(KernelState state, const Candidate& from,
                                     const LaunchView& view);

}  // namespace regraph::rewrite
