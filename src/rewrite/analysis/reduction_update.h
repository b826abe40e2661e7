// Statements that update what a loop accumulates. Used by reduction_loop.
#pragma once

#include "rewrite/analysis/reduction.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

// The reduction that an assignment to the scalar variable does: sum += x, sum = sum + x,
// m = fmaxf(m, x), m = x > m ? x : m and the like; nothing where it does anything else, or its
// value mentions the variable once more.
[[nodiscard]] std::optional<Reduction> reduction_of(const source::Assignment& stmt,
                                                    const source::Variable& variable);

// The same of if (other > name) name = other; of a variable that is not declared `inside`.
[[nodiscard]] std::optional<Reduction> guarded_reduction_of(const source::Branch& stmt,
                                                            const std::set<std::string>& inside,
                                                            const source::Analysis& analysis);

}  // namespace regraph::rewrite
