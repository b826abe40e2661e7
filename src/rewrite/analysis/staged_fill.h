// How a shared array gets its elements where each thread puts one of its own there.
//
//   s[ty][tx] = row < m ? a[row * k + tx] : 0;                  by two indices
//   s[ty * 16 + tx] = ...                                       by one
//   if (row < m) s[ty][tx] = a[..]; else s[ty][tx] = 0;         by a branch
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A thread's index along an axis is what an array's index holds `pitch` times.
struct FillDigit {
  std::string axis;  // "threadIdx.x"
  std::int64_t pitch = 1;
  std::int64_t extent = 1;  // of the block along the axis
};

// An index of the array: the sum of its digits, largest pitch first, and the offset.
struct FillIndex {
  std::vector<FillDigit> digits;
  std::int64_t offset = 0;
};

struct StagedFill {
  const source::Block* place = nullptr;  // the block of statements it stands in
  bool in_loop = false;
  std::vector<const source::Stmt*> statements;
  std::vector<FillIndex> indices;
  source::ExprPtr guard;  // or null
  source::ExprPtr value;
  source::ExprPtr otherwise;  // where the guard does not hold
};

// The only place where the array is filled. What is read of it stands behind that in the same block
// of statements, with a barrier in between, and another before the next round's fill, wherever
// threads read more than they filled. `analysis` is of the kernel. Error: refused.
[[nodiscard]] Result<StagedFill> find_staged_fill(const source::Kernel& kernel,
                                                  const source::Analysis& analysis,
                                                  const source::Variable& array, const Dim3& block);

// Whether the expression is an element of the array, with all its indices.
[[nodiscard]] bool is_element_of(const source::ExprPtr& expr, const source::Variable& array);

}  // namespace regraph::rewrite
