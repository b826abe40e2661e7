// Accesses to global arrays with all that decides whether, and how often, they happen. Used by
// element_rows.
#pragma once

#include "affine/ir.h"
#include "source/analysis.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::affine {

// What stands around an access: a condition that holds there, or a loop.
struct Surrounding {
  StmtPtr loop;                        // null: a condition
  std::optional<CountedLoop> counted;  // of a loop that counts
  bool may_be_left = false;            // a loop that something inside leaves or continues
  ExprPtr condition;
};

struct PlacedAccess {
  const Subscript* access = nullptr;
  const Stmt* stmt = nullptr;  // that it is in
  std::string buffer;
  std::optional<Polynomial> index;
  bool is_wide = false;  // the index is 64-bit
  bool stores = false;
  bool loads = false;
  std::vector<Surrounding> around;  // outermost first, below the statement that was asked about
};

struct PlacedAccesses {
  std::vector<PlacedAccess> accesses;
  // Buffers that are used otherwise than by elements: handed on, or their addresses taken.
  std::set<std::string> strange;
};

// The accesses in the statement to the kernel's pointer parameters, in program order.
[[nodiscard]] PlacedAccesses placed_accesses(const StmtPtr& stmt, const Analysis& analysis);

}  // namespace regraph::affine
