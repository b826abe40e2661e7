// Accesses to global arrays with all that decides whether, and how often, they happen. Used by
// element_rows.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// What stands around an access: a condition that holds there, or a loop.
struct Surrounding {
  source::StmtPtr loop;                        // null: a condition
  std::optional<source::CountedLoop> counted;  // of a loop that counts
  bool may_be_left = false;                    // a loop that something inside leaves or continues
  source::ExprPtr condition;
};

struct PlacedAccess {
  const source::Subscript* access = nullptr;
  const source::Stmt* stmt = nullptr;  // that it is in
  std::string buffer;
  std::optional<source::Polynomial> index;
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
[[nodiscard]] PlacedAccesses placed_accesses(const source::StmtPtr& stmt,
                                             const source::Analysis& analysis);

}  // namespace regraph::rewrite
