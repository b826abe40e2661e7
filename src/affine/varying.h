// Which names of a kernel depend on a given builtin (by data or control), so that merging threads
// or blocks must keep a copy of them each.
#pragma once

#include "affine/ir.h"

#include <set>
#include <string>

namespace regraph::affine {

// Returns the names (scalars, register arrays and shared arrays) whose contents may depend on
// `builtin`, e.g. "blockIdx.x"; those that are `known` to are among them, and those in `common`
// are not: memory in which all see the same.
[[nodiscard]] std::set<std::string> varying_names(const Kernel& kernel, const std::string& builtin,
                                                  std::set<std::string> known = {},
                                                  const std::set<std::string>& common = {});

// Whether the value of `expr` may depend on `builtin`, given the varying names.
[[nodiscard]] bool is_varying(const ExprPtr& expr, const std::string& builtin,
                              const std::set<std::string>& varying);

}  // namespace regraph::affine
