// Array accesses with the conditions under which they happen.
#pragma once

#include "affine/ir.h"

#include <functional>
#include <vector>

namespace regraph::affine {

// Calls `visit(access, guards)` for every index expression, with the conjuncts (of if statements,
// ?: and &&) that hold when it is evaluated. Stores' targets are visited with is_store true.
struct GuardedAccess {
  const Subscript* access;
  const Stmt* stmt;
  bool is_store;
  const std::vector<ExprPtr>& guards;
};
void for_each_guarded_access(const Block& block,
                             const std::function<void(const GuardedAccess&)>& visit);

}  // namespace regraph::affine
