// Integer expressions of a problem as C++ text, for a user's host code.
#pragma once

#include "kernel/expression.h"

#include <map>
#include <string>

namespace regraph::handback {

// What stands for each symbol of an expression: text of the host code.
using Meanings = std::map<std::string, std::string, std::less<>>;

// The expression in 64-bit arithmetic. Error: not_found, the symbol that has no meaning.
[[nodiscard]] Result<std::string> host_text(const IntegerExpression& expression,
                                            const Meanings& meanings);

}  // namespace regraph::handback
