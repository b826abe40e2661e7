// Which arrays the lanes of a row can move by vectors, and whether the row fits in their registers.
// Used by cross_thread_reduction.
//
//   lane l of T has elements W * (v * T + l) ... + W - 1 of the row, v = 0, 1, ...
#pragma once

#include "base/result.h"
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// An array that is accessed at `rest + c` in loops over the row, c being their counter. One that is
// only read may be at several such places.
struct RowArray {
  std::string name;
  bool is_only_place = true;  // all accesses of the array in the loops are of this place
  std::string element_type;
  ScalarType scalar = ScalarType::f32;
  Polynomial rest;
  bool wide_index = false;  // the original index is 64-bit
  bool is_kept = false;     // a lane has all of its part of the row in registers, from loop to loop
};

struct RowVectors {
  int width = 1;                    // W
  int vectors = 0;                  // a lane for the whole row, where arrays are kept; 0: none is
  ExprPtr limit;                    // elements of the row
  bool is_wide = false;             // a loop over the row counts in 64 bits
  std::set<std::string> divisible;  // parameters that W has to divide, asked at run time
  std::vector<RowArray> arrays;
  const Analysis* analysis = nullptr;  // of the kernel, which must outlive the plan
  const Block* block = nullptr;        // that the loops stand in

  // Has rows pass by in a loop.
  void keep_nothing() {
    vectors = 0;
    for (RowArray& array : arrays)
      array.is_kept = false;
  }
  // The array's place that is accessed; null where that is none of these.
  [[nodiscard]] const RowArray* array_of(const Expr& access) const;

  std::size_t first = 0;  // of them, in it
};

// Plans vectors of `width` for the loops that `rows` deals out to `threads` lanes. Error: refused:
// loops over different ranges or in different blocks, rows too short for the lanes, no array that
// qualifies.
[[nodiscard]] Result<RowVectors> plan_row_vectors(const Kernel& kernel, const Analysis& analysis,
                                                  const RowPlan& rows, int threads, int width,
                                                  const Problem& problem);

}  // namespace regraph::rewrite
