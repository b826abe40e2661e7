// Conditions of a kernel that went one way only in all runs that were compared: what lies behind
// the other way nobody knows.
#pragma once

#include "eval/verify/loaded_plan.h"
#include "eval/verify/path_set.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::verify {

struct UntakenBranch {
  std::size_t launch = 0;       // of the plan
  std::size_t instruction = 0;  // of the launch's kernel
  bool never = false;           // the way it did not go: whether the condition holds
  std::string comparison;       // "setp.eq.s32", or of conditions that are joined "and.pred"
  // What a comparison of numbers compares with, where that is a constant.
  std::optional<std::int64_t> integer;
  std::optional<double> real;
  bool needs_large_size = false;  // sizes take it that are too large to be tested
  int source_line = 0;            // 0: not known
  int ptx_line = 0;

  // "line 12 of the source (setp.eq.s32 with 3, which never holds)".
  [[nodiscard]] std::string text() const;
};

// Comparisons, and conditions made of others, that ran and whose result `taken` has one way only.
[[nodiscard]] std::vector<UntakenBranch> untaken_branches(const LoadedPlan& plan,
                                                          const PathSet& taken);

// The comparisons of a plan, whichever way they go.
[[nodiscard]] std::vector<UntakenBranch> all_comparisons(const LoadedPlan& plan);

// The ways that the branches did not go, as a set of paths.
[[nodiscard]] PathSet other_ways(const LoadedPlan& plan,
                                 const std::vector<UntakenBranch>& branches);

}  // namespace regraph::verify
