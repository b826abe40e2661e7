// What code does with variables: which it mentions, which it may change, and whether a value stays
// the same meanwhile.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"
#include "source/walk.h"

#include <initializer_list>
#include <set>
#include <string>

namespace regraph::rewrite {

// Whether the variable is in the expression, which may be null.
[[nodiscard]] bool is_mentioned(const ExprPtr& expr, const std::string& name);
// Whether it is in values, targets or conditions of the block, or below it.
[[nodiscard]] bool is_mentioned(const Block& block, const std::string& name);
// How often the variable is mentioned. A declaration does not mention what it declares.
[[nodiscard]] int mentions_of(const std::string& name, const ExprPtr& expr);
[[nodiscard]] int mentions_of(const std::string& name, const Block& block);

// Calls `visit` for every place that the block, or what is below it, may give another value:
// targets of assignments, and what is given away (for_each_passed_place). Not for declarations.
template <typename Visit>
void for_each_changed_place(const Block& block, const Visit& visit) {
  walk(block, [&](const Stmt& stmt) {
    if (const ExprPtr& target = target_of(stmt)) visit(*target);
    walk_own_expressions(stmt, [&](const Expr& expr) { for_each_passed_place(expr, visit); });
  });
}
// The variables that such places are, or are part of.
[[nodiscard]] std::set<std::string> changed_names(const Block& block);
// With those that the block declares: all that get a value in it.
[[nodiscard]] std::set<std::string> given_values_in(const Block& block);
// The variables that such places are as a whole: not those of which elements alone change.
[[nodiscard]] std::set<std::string> reassigned_names(const Block& block);
// How many of the places are the variable, or part of it.
[[nodiscard]] int changes_of(const std::string& name, const Block& block);

// Whether the value stays what it is while only these names change: it is made of nothing else, not
// of memory either.
[[nodiscard]] bool is_kept(const ExprPtr& value, const std::set<std::string>& changed);
// Whether the value is the same wherever its names are known: it does not read memory, and none of
// them gets a value but where it is declared.
[[nodiscard]] bool is_fixed(const ExprPtr& value, const Analysis& analysis);
// Whether nothing comes of computing it but the value: it calls pure functions alone.
[[nodiscard]] bool is_computation(const ExprPtr& value);

// Whether the value is an integer of any size.
[[nodiscard]] bool is_integral(const ExprPtr& value);

// Whether two sets have a name in common.
[[nodiscard]] bool share_a_name(const std::set<std::string>& names,
                                const std::set<std::string>& others);

// Whether there is a statement of these kinds in the block, or below it.
[[nodiscard]] bool holds_any(const Block& block, std::initializer_list<StmtKind> kinds);

}  // namespace regraph::rewrite
