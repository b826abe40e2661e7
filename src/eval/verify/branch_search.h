// How to take the branches that no run took: sizes, scalars and data chosen for them.
#pragma once

#include "eval/verify/loaded_plan.h"
#include "eval/verify/test_cases.h"
#include "eval/verify/untaken_branches.h"
#include "kernel/problem.h"

#include <cstdint>
#include <set>
#include <vector>

namespace regraph::verify {

// Numbers that a kernel's comparisons compare with.
struct ComparedNumbers {
  std::set<std::int64_t> integers;
  std::set<double> reals;
};
[[nodiscard]] ComparedNumbers compared_numbers(const LoadedPlan& plan);

struct BranchSearch {
  // Small ones that take some of the branches, each for another one.
  std::vector<Symbols> sizes;
  // Inputs and scalars that may: among ordinary values those that branches compare with.
  std::vector<TestCase> cases;
  // Those that sizes take which are too large to run, or of which only data can tell that compares
  // with numbers that `original` does not know: nothing more can be done for them.
  std::vector<UntakenBranch> open;
};

// Works out what decides each of the branches of `candidate`. Those that no size can take, or whose
// way depends on the thread, are in none of the lists: all threads of the sizes that were run took
// the one way.
[[nodiscard]] BranchSearch search_branches(const Problem& problem, const LoadedPlan& candidate,
                                           const std::vector<UntakenBranch>& branches,
                                           const ComparedNumbers& original);

}  // namespace regraph::verify
