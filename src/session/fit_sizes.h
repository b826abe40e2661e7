// Sizes that nobody gave, chosen by what a launch has to do at them.
#pragma once

#include "base/cancellation.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph {

// What may be changed of a problem's sizes.
struct SizeChoice {
  std::vector<std::string> own_sizes;  // sizes whose values nothing says
  // Sizes that are divided by others: {"channels", "heads"}.
  std::vector<std::pair<std::string, std::string>> quotients;
};

// Halves sizes of the bench until a launch takes some milliseconds at most on a GPU, or doubles
// them where it is next to nothing; and halves sizes of derived tests until the interpreter runs
// them in a moment. Sizes that are divided by others become multiples of these. What was chosen is
// said among the problem's notes. `plan` is the original; what cannot be run stays as it is.
void fit_sizes(Problem& problem, const verify::LoadedPlan& plan, const SizeChoice& choice,
               const Cancellation& cancellation);

}  // namespace regraph
