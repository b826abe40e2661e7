// Whether code mentions a variable.
#pragma once

#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

// Whether the variable is in the expression, which may be null.
[[nodiscard]] bool is_mentioned(const ExprPtr& expr, const std::string& name);

// Whether it is in values, targets or conditions of the block, or below it.
[[nodiscard]] bool is_mentioned(const Block& block, const std::string& name);

}  // namespace regraph::rewrite
