// Loops that add up products over a window: convolutions, in one or several channels. Used by
// window_tile.
//
//   for (c) for (fy) for (fx) for (copy) { if (guards) sum[copy] += in[...] * filter[...]; }
#pragma once

#include "base/result.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct WindowLoop {
  const source::ForLoop* loop = nullptr;
  source::CountedLoop counted;
  std::optional<std::int64_t> trips;  // where they are constant
  bool is_copy = false;               // its counter is an index of the sums
};

// sum[copy] += value, where the guards hold.
struct WindowUpdate {
  source::ExprPtr target;
  source::AssignmentOperator op = source::AssignmentOperator::add;
  source::ExprPtr value;                 // with the nest's own names written out
  std::vector<source::ExprPtr> guards;   // the same
  std::vector<source::ExprPtr> spelled;  // the guards as they stand
};

// A loop of the kernel's body, with all loops below it one inside the other.
struct WindowNest {
  std::size_t position = 0;            // in the body
  std::vector<WindowLoop> loops;       // outermost first
  std::vector<source::StmtPtr> names;  // declarations of index arithmetic and values, in order
  source::Block between;               // those of them that stand between the loops
  source::Block innermost;             // the innermost loop's body
  std::vector<WindowUpdate> updates;
  std::set<std::string> sums;  // the registers

  // The first loop, where its length is no constant; null else.
  [[nodiscard]] const WindowLoop* strip() const;
  // Whether the name is a counter of a loop that adds up.
  [[nodiscard]] bool adds_over(const std::string& counter) const;
};

// The first loop of the body that has that shape. Its bounds are the same for all threads. Error:
// refused, with what is in the way of the last loop that was looked at.
[[nodiscard]] Result<WindowNest> find_window_nest(const source::Kernel& kernel,
                                                  const source::Analysis& analysis);

// The factors of a product, written with * or as the first two arguments of fmaf.
[[nodiscard]] std::vector<source::ExprPtr> factors_of(const source::ExprPtr& value);
// What the update adds: without the sum itself. Null where it does something else.
[[nodiscard]] source::ExprPtr added_by(const WindowUpdate& update);

}  // namespace regraph::rewrite
