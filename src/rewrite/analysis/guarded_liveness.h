// Liveness under guards: registers whose contents are read under conditions only, and may hold
// anything elsewhere. Used by smem_tile and window_tile.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Whether the name is a variable or an array of the thread's own.
[[nodiscard]] bool is_register(const std::string& name, const Analysis& analysis);

// Whether what `place`, a register or an element of an array of them, holds is seen where all the
// guards hold and nowhere else, its own updates aside. Other registers may be computed from it, if
// that holds for them. What does not hold of the element may hold of the whole array. Guards are
// the same where they read the same: the kernel's names have one meaning each.
[[nodiscard]] bool is_live_only_under(const Kernel& kernel, const Analysis& analysis,
                                      const ExprPtr& place, const std::vector<ExprPtr>& guards);

// Whether the registers that the expression reads hold values wherever it may stand: each has one
// from its declaration on, or is given one under no condition. Arrays count as one register; the
// names in `except` are not looked at.
[[nodiscard]] bool reads_set_registers(const Kernel& kernel, const Analysis& analysis,
                                       const ExprPtr& expr,
                                       const std::set<std::string>& except = {});

}  // namespace regraph::rewrite
