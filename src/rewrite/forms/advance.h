// Statements that move a variable on from where it is.
#pragma once

#include "rewrite/forms/ir.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

struct Advance {
  std::string name;
  ExprPtr step;
  bool is_backwards = false;
};

// How the statement moves a variable on: `at += step`, `at -= step`, `at = at + step`, `at = step +
// at`, `at = at - step`. Nothing for other statements.
[[nodiscard]] std::optional<Advance> advance_of(const Stmt& stmt);

}  // namespace regraph::rewrite
