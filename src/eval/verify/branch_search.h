// How to take the branches that no run took: sizes, scalars and data chosen for them.
#pragma once

#include "eval/verify/loaded_plan.h"
#include "eval/verify/test_cases.h"
#include "eval/verify/untaken_branches.h"
#include "kernel/problem.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace regraph::verify {

// Numbers that stand in a kernel's instructions.
struct KernelNumbers {
  std::set<std::int64_t> compared_integers;  // by comparisons
  std::set<double> compared_reals;
  std::set<double> all;  // of any instruction; finite, above 1 or below -1
  // Comparisons of data, by what is compared with what: "f32 0", "s32 register".
  std::set<std::string> of_data;
};
[[nodiscard]] KernelNumbers numbers_of(const LoadedPlan& plan);

// A small size that takes a branch.
struct BranchSize {
  Symbols symbols;
  UntakenBranch branch;
  bool is_telling = false;  // the branch is open where the size cannot be run
};

struct BranchSearch {
  // Each for another branch.
  std::vector<BranchSize> sizes;
  // Inputs and scalars that may: among ordinary values those that the candidate has and the
  // original lacks.
  std::vector<TestCase> cases;
  // Those that compare with numbers that `original` does not compare with (of data: or ask
  // whether they equal an integer 0 or 1, or each other, as it asks none), and that nothing which
  // is known to take them can be run for: sizes that are too large, or data.
  std::vector<UntakenBranch> open;
};

// Works out what decides each of the branches of `candidate`. Those that no size can take, or whose
// way depends on the thread, are in none of the lists: all threads of the sizes that were run took
// the one way.
[[nodiscard]] BranchSearch search_branches(const Problem& problem, const LoadedPlan& candidate,
                                           const std::vector<UntakenBranch>& branches,
                                           const KernelNumbers& original);

}  // namespace regraph::verify
