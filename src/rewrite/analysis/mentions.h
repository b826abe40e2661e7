// What code mentions and changes.
#pragma once

#include "rewrite/forms/ir.h"

#include <functional>
#include <set>
#include <string>

namespace regraph::rewrite {

// Whether the variable is in the expression, which may be null.
[[nodiscard]] bool is_mentioned(const ExprPtr& expr, const std::string& name);

// Whether it is in values, targets or conditions of the block, or below it.
[[nodiscard]] bool is_mentioned(const Block& block, const std::string& name);

// How often it is in expressions of the block, or below it.
[[nodiscard]] int count_mentions(const Block& block, const std::string& name);

// Names that assignments of the block, or below it, give a value: variables, and arrays and buffers
// by their elements.
[[nodiscard]] std::set<std::string> assigned_names(const Block& block);

// The same, and names that are declared there.
[[nodiscard]] std::set<std::string> given_names(const Block& block);

// Whether two sets have a name in common.
[[nodiscard]] bool share_a_name(const std::set<std::string>& names,
                                const std::set<std::string>& others);

}  // namespace regraph::rewrite
