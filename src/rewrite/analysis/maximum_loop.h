// Loops that find the largest of some values. Used by online_loops.
#pragma once

#include "rewrite/analysis/reduction.h"
#include "source/analysis.h"
#include "source/counted_loop.h"
#include "source/ir.h"

#include <optional>

namespace regraph::rewrite {

// What the loop that finds the largest value does.
struct MaximumLoop {
  source::StmtPtr loop;
  source::CountedLoop counted;
  Reduction maximum;
  std::size_t update = 0;  // which statement of the body
  source::ExprPtr value;
};

// The loop that the statement is; nothing where it counts otherwise than up to a limit, or does
// more than to update one floating-point maximum in one place.
[[nodiscard]] std::optional<MaximumLoop> maximum_loop_of(const source::StmtPtr& stmt,
                                                         const source::Analysis& analysis);

}  // namespace regraph::rewrite
