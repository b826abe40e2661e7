// Values that a later loop over a row in registers computes again from the same elements. Used by
// share_rows.
//
//   for (i) sum += expf(x[i] - max);         for (i) { kept[i] = expf(x[i] - max);  sum += kept[i]; }
//   for (i) y[i] = expf(x[i] - max) / sum;   for (i) y[i] = kept[i] / sum;
#pragma once

#include "rewrite/analysis/row_plan.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/forms/ir.h"
#include "source/walk.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// A value that one loop computes for every element and later ones need again.
struct KeptValue {
  ExprPtr value;  // in the terms of `RowValues`
  ScalarType scalar = ScalarType::f32;
  const ForLoop* computed = nullptr;  // the loop that computes it
  const Stmt* statement = nullptr;    // of that loop's body, the first that does
  ExprPtr own;                        // the value as it stands there
  std::vector<const ForLoop*> later;  // that need it
};

// Expressions in loops over a row, told apart by what they are of an element: names of counters and
// of what the loop declares do not count.
class RowValues {
 public:
  // `vectors`, and the kernel that it is of, must outlive it.
  explicit RowValues(const RowVectors& vectors) : vectors_(&vectors) {}

  // The expression of the loop's body with elements, counter and locals in common terms.
  [[nodiscard]] ExprPtr in_common_terms(const ExprPtr& expr, const ForLoop& loop) const;
  // Whether it is the value that is kept.
  [[nodiscard]] bool is(const KeptValue& kept, const ExprPtr& expr, const ForLoop& loop) const {
    return source::equal(in_common_terms(expr, loop), kept.value);
  }

 private:
  [[nodiscard]] std::string named(const RowArray& array) const;

  const RowVectors* vectors_;
};

// The values worth their registers, largest first: those with a quotient or a function that takes
// several instructions. Nothing where the row is not in registers. Nothing that is kept changes
// between the loops, and the first computes it for every element.
[[nodiscard]] std::vector<KeptValue> find_kept_values(const RowVectors& vectors,
                                                      const RowPlan& rows);

}  // namespace regraph::rewrite
