// What refusals say first: where the code is that they are about.
#pragma once

#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

// "loop at line 7: "; nothing where the loop has no line.
[[nodiscard]] std::string loop_named(const Stmt& loop);

// "line 7: "; nothing where the statement has no line.
[[nodiscard]] std::string line_named(const Stmt& stmt);

}  // namespace regraph::rewrite
