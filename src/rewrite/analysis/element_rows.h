// Rows of neighbouring elements that a thread uses again and again: they can live in registers
// meanwhile. Used by scalar_replacement.
//
//   for (t < n) { for (d < 64) s += query[q * 64 + d] * ...; for (d < 64) out[q * 64 + d] += ...; }
//
// The elements are those that loops of constant length go through; the rest of the index is the
// same for all statements from `first` to `last`.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct ElementRow {
  std::string buffer;
  std::int64_t extent = 0;
  bool is_updated = false;  // the kernel stores to it
  bool is_loaded = true;    // what is in memory is seen before it is replaced
  // Under which the elements are accessed at all; null: always. Can be asked in front of `first`.
  ExprPtr condition;
  StmtPtr first;  // of the statements of one block that access the row
  StmtPtr last;
  ExprPtr index;  // of the element that the variable `element` counts
  std::string element;
  // Which of the row's elements an access is, 0 .. extent - 1, over counters of loops.
  std::map<const Subscript*, Polynomial> accesses;

  // Words of 32 bits in all.
  [[nodiscard]] std::int64_t words(const Kernel& kernel) const;
};

// The rows that can be kept, in program order; those of outer blocks first, and no access in two.
// `raced`: buffers that threads race on, and may; they are left alone. `element` must be a name
// that the kernel does not use. Error: refused, with what is in the way of the one that came
// closest.
[[nodiscard]] Result<std::vector<ElementRow>> element_rows(const Kernel& kernel,
                                                           const Analysis& analysis,
                                                           const std::vector<std::string>& raced,
                                                           const std::string& element);

}  // namespace regraph::rewrite
