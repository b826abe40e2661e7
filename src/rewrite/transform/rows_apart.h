// Threads that have several rows of a tile each, as a thread for each row. Used by untile.
//
//   float acc[4] = {};                                         float acc = 0.0f;
//   for (i = 0; i < 32; i += 8)                                tile[threadIdx.y][threadIdx.x] = ...;
//     tile[threadIdx.y + i][threadIdx.x] = ...;           ->
//   for (r = 0; r < 4; ++r)                                    acc += tile[threadIdx.y][k] * w;
//     acc[r] += tile[threadIdx.y + 8 * r][k] * w;
//   blocks of 32 x 8                                           blocks of 32 x 32
#pragma once

#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

struct RowsApart {
  Kernel kernel;
  Launch launch;
};

// The kernel with a thread for each iteration of the loops that go through a thread's rows, along
// the axis ("y" or "x"): of the loops and arrays of `row_tile`. Elements that rows have in arrays
// of the thread's own are used by their own row alone. What stands outside of such loops all of
// those threads do, so it does nothing but to work on variables of the thread. Nothing where a
// thread has no such rows, where iterations hand something on, or store to elements that are not
// told by their row.
//
// The order between rows of one thread is lost: the same result where no thread reads what another
// one has put into shared memory without a barrier in between, which the caller has to ask of the
// kernel that is returned.
[[nodiscard]] std::optional<RowsApart> with_rows_apart(const Kernel& kernel, const Launch& launch,
                                                       const Problem& problem, char axis);

}  // namespace regraph::rewrite
