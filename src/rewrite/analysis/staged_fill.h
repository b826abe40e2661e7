// How an array that holds a copy gets its elements. Used by staged_copies.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// How a shared array gets its elements where each thread puts one of its own there, or those that
// loops of its own count.
//
//   s[ty][tx] = row < m ? a[row * k + tx] : 0;                  by two indices
//   s[ty * 16 + tx] = ...                                       by one
//   if (row < m) s[ty][tx] = a[..]; else s[ty][tx] = 0;         by a branch
//   for (i = 0; i < 8; ++i) s[ty][i] = a[row * k + i];          by a loop

// A thread's index along an axis, or a loop's counter, is what an array's index holds `pitch`
// times.
struct FillDigit {
  std::string axis;  // "threadIdx.x", or the counter
  std::int64_t pitch = 1;
  std::int64_t extent = 1;  // of the block along the axis, or the loop's rounds
  bool operator==(const FillDigit&) const = default;
};

// An index of the array: the sum of its digits, largest pitch first, and the offset.
struct FillIndex {
  std::vector<FillDigit> digits;
  std::int64_t offset = 0;
  bool operator==(const FillIndex&) const = default;
};

struct StagedFill {
  const Block* place = nullptr;  // the block of statements it stands in
  bool in_loop = false;
  std::vector<const Stmt*> statements;
  std::vector<const Stmt*> roots;    // of `place`: these statements, or the loops around them
  std::set<std::string> loop_names;  // what such loops count and declare
  std::vector<FillIndex> indices;
  ExprPtr guard;  // or null
  ExprPtr value;
  ExprPtr otherwise;  // where the guard does not hold
};

// Whether the expression is an element of the array, with all its indices.
[[nodiscard]] bool is_element_of(const ExprPtr& expr, const Variable& array);

// The only place where the array is filled. What is read of it stands behind that in the same block
// of statements, with a barrier in between, and another before the next round's fill, wherever
// threads read more than they filled; a thread's own array needs none. `analysis` is of the kernel.
// Error: refused.
[[nodiscard]] Result<StagedFill> find_staged_fill(const Kernel& kernel, const Analysis& analysis,
                                                  const Variable& array, const Dim3& block);

}  // namespace regraph::rewrite
