// Between which bounds index polynomials lie at a place of a kernel, from the block's extents, the
// bounds of loops, the sizes and the conditions that hold there.
#pragma once

#include "affine/constraints.h"
#include "affine/ir.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "source/analysis.h"

#include <optional>
#include <vector>

namespace regraph::affine {

// All of it is about one kernel, whose analysis must outlive this. Polynomials may mention
// blockDim: it counts as the block's extent. Sizes of the problem are taken to be at least 1.
class Ranges {
 public:
  // `launch` as the kernel is launched; null problem: nothing is known of its parameters.
  Ranges(const Kernel& kernel, const Analysis& analysis, const Launch& launch,
         const Problem* problem);

  // The largest and the smallest value over the threads of a block and the iterations of loops with
  // constant bounds, in the symbols that are left: the same for all threads of a block, where the
  // polynomial takes the rest from parameters and block indices. Nothing where a sign is not known.
  [[nodiscard]] std::optional<Polynomial> highest(const Polynomial& value) const;
  [[nodiscard]] std::optional<Polynomial> lowest(const Polynomial& value) const;

  // Whether the comparison (< <= > >=) holds for all threads of all blocks wherever the guards do.
  [[nodiscard]] bool proves(const ExprPtr& comparison,
                            const std::vector<ExprPtr>& guards = {}) const;
  // Whether the polynomial is negative in all blocks whose number along the axis (0 to 2) is at or
  // beyond the end of the grid. Symbols that are no builtins, counters, parameters or quotients
  // (Analysis::polynomial_with_sizes) count as not negative.
  [[nodiscard]] bool is_negative_beyond_grid(const Polynomial& value, int axis) const;

  // value = quotient * divisor + remainder with 0 <= remainder < divisor.
  struct Division {
    Polynomial quotient;
    Polynomial remainder;
  };
  // By a positive number or a product of one with parameters. Nothing where the terms that the
  // divisor does not divide are not known to stay below it.
  [[nodiscard]] std::optional<Division> divided(const Polynomial& value,
                                                const Polynomial& divisor) const;

 private:
  // A grid of `items` / `pitch`, rounded down.
  struct Extent {
    Polynomial items;
    Polynomial pitch;
  };
  // With quotients of sizes as symbols (Analysis::polynomial_with_sizes), or with their names.
  [[nodiscard]] std::optional<Extent> grid_extent(int axis, bool in_quotients) const;
  // `known` with the bounds of the counters that the value mentions: it stands in their loops.
  [[nodiscard]] Constraints in_loops_of(const Polynomial& value, Constraints known) const;
  [[nodiscard]] std::optional<Polynomial> extreme(const Polynomial& value, bool is_highest) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Launch& launch_;
  Constraints box_;     // threads and sizes
  Constraints inside_;  // and blocks of the grid
};

}  // namespace regraph::affine
