// Array accesses with the conditions under which they happen.
#pragma once

#include "source/ir.h"

#include <functional>
#include <vector>

namespace regraph::rewrite {

// Calls `visit(access, guards)` for every index expression, with the conjuncts (of if statements,
// ?: and &&) that hold when it is evaluated. Stores' targets are visited with is_store true.
struct GuardedAccess {
  const source::Subscript* access;
  const source::Stmt* stmt;
  bool is_store;
  const std::vector<source::ExprPtr>& guards;
};
void for_each_guarded_access(const source::Block& block,
                             const std::function<void(const GuardedAccess&)>& visit);

}  // namespace regraph::rewrite
