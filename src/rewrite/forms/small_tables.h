// Small arrays of a thread's own integers. Used by table_values and table_loops.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace regraph::rewrite {

using Tables = std::map<std::string, Variable>;

// Arrays of integers in registers, by name; none that is declared twice.
[[nodiscard]] Tables find_tables(const Block& body);

// The table that the expression is a whole element of; null for other expressions.
[[nodiscard]] const Variable* table_of(const Expr& expr, const Tables& tables);

// The table's name with the element's numbers behind it; nothing where these are not known.
[[nodiscard]] std::optional<std::string> element_name(const Expr& element, const Variable& table);

// The value of an expression of literals.
[[nodiscard]] std::optional<std::int64_t> number_of_literals(const ExprPtr& expr);

}  // namespace regraph::rewrite
