// What statements do with the elements of a buffer. Used by element_registers.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// Accesses to one buffer by its own name.
struct ElementAccesses {
  std::vector<ExprPtr> indices;
  bool loads = false;
  bool stores = false;
};
[[nodiscard]] ElementAccesses accesses_of(const StmtPtr& stmt, const std::string& buffer);

// Whether other threads may take part in what the statement does (barriers, atomics, calls), memory
// is reached otherwise than by a buffer's name, or the statement is left by a jump or a return:
// then nothing can be kept in a register across it.
[[nodiscard]] bool has_hazard(const StmtPtr& stmt, const Analysis& analysis);

}  // namespace regraph::rewrite
