// Warp shuffles as IR.
#pragma once

#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

inline constexpr int kWarpLanes = 32;

// The mask that names all lanes of a warp.
[[nodiscard]] ExprPtr full_mask();

// for (offset = lanes / 2; offset > 0; offset >>= 1) body, unrolled. `lanes` is a power of two.
[[nodiscard]] StmtPtr halving_loop(const std::string& offset, int lanes, Block body);

// Combines the values of `reduction` of groups of `lanes` neighbouring lanes (a power of two, at
// most 32) so that all of them hold the result, the same bits in each. Every lane of `mask` must
// get here. `offset` and `partner` name what the loop needs.
[[nodiscard]] StmtPtr all_reduce(const Reduction& reduction, int lanes, const std::string& offset,
                                 const std::string& partner, const ExprPtr& mask = full_mask());

// Combines the value of `reduction` of every lane of a warp with those of all lanes before it.
// Every lane of the warp must get here. `lane` is the lane's number; `distance` and `below` name
// what the loop needs.
[[nodiscard]] StmtPtr scan_lanes(const Reduction& reduction, const ExprPtr& lane,
                                 const std::string& distance, const std::string& below);

}  // namespace regraph::rewrite
