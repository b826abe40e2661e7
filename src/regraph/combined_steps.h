// Proposals that stand for more than one step. An edge that carries one is an edge like any other:
// what it brings is backed up, learned and reported; only the steps are listed.
//
//   leap(by=model, plan=coalesce_swap + smem_tile)   several steps, applied at once
//   combine(by=model, with=17)                       what led to state 17, put into this one as well
#pragma once

#include "regraph/expander.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// Parameters of the two.
inline constexpr const char* kPlan = "plan";
inline constexpr const char* kWith = "with";

// Whether a proposal stands for steps of others.
[[nodiscard]] bool is_combined(const StepProposal& proposal);

// The value of kPlan for these steps, and the steps of such a value.
[[nodiscard]] std::string plan_text(const std::vector<std::string>& steps);
[[nodiscard]] std::vector<std::string> planned_steps(const StepProposal& leap);

// The steps that a proposal brings into a history: those of a leap's plan, else its own.
[[nodiscard]] std::vector<std::string> steps_of(const StepProposal& proposal);

// The number of the state that a combination names; nothing for other proposals, and for text that
// is no number.
[[nodiscard]] std::optional<std::uint32_t> state_to_combine(const StepProposal& proposal);

}  // namespace regraph
