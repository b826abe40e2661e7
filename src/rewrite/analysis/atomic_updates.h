// Atomics on elements of arrays, done for their effect. Used by atomic_privatize.
#pragma once

#include "rewrite/forms/ir.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// atomicAdd(&table[index], value) or atomicAdd(table + index, value), as a statement, where the
// index may be added bit by bit; atomicAdd(table, value) is of element 0.
struct AtomicUpdate {
  std::string table;
  std::string function;
  ExprPtr index;
  ExprPtr value;
};

// The update that the statement is; nothing for any other statement.
[[nodiscard]] std::optional<AtomicUpdate> atomic_update_of(const Stmt& stmt);

// Whether there is one in the block.
[[nodiscard]] bool updates_atomically(const Block& block);

// The value that changes nothing when `function` is applied with it, which an element that collects
// updates begins with; null for functions and types that have none.
[[nodiscard]] ExprPtr neutral_value(const std::string& function, ScalarType scalar);

}  // namespace regraph::rewrite
