// Loops that add up products over a window: convolutions, in one or several channels. Used by
// window_tile.
//
//   for (c) for (fy) for (fx) for (copy) { if (guards) sum[copy] += in[...] * filter[...]; }
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct WindowLoop {
  const ForLoop* loop = nullptr;
  CountedLoop counted;
  std::optional<std::int64_t> trips;  // where they are constant
  bool is_copy = false;               // its counter is an index of the sums
};

// sum[copy] += value, where the guards hold.
struct WindowUpdate {
  ExprPtr target;
  AssignmentOperator op = AssignmentOperator::add;
  ExprPtr value;                 // with the nest's own names written out
  std::vector<ExprPtr> guards;   // the same
  std::vector<ExprPtr> spelled;  // the guards as they stand
};

// A loop of the kernel's body, with all loops below it one inside the other.
struct WindowNest {
  std::size_t position = 0;       // in the body
  std::vector<WindowLoop> loops;  // outermost first
  std::vector<StmtPtr> names;     // declarations of index arithmetic and values, in order
  Block between;                  // those of them that stand between the loops
  Block innermost;                // the innermost loop's body
  std::vector<WindowUpdate> updates;
  std::set<std::string> sums;  // the registers

  // The first loop, where its length is no constant; null else.
  [[nodiscard]] const WindowLoop* strip() const;
  // Whether the name is a counter of a loop that adds up.
  [[nodiscard]] bool adds_over(const std::string& counter) const;
};

// How long the loops of a nest may be.
enum class WindowLengths {
  constant_inside,  // the first may be of any length, from zero on; those inside are constant
  any,              // known when the kernel begins; they may differ between threads
};

// The first loop of the body that has that shape. The first loop's bounds are the same for all
// threads. Error: refused, with what is in the way of the last loop that was looked at.
[[nodiscard]] Result<WindowNest> find_window_nest(
    const Kernel& kernel, const Analysis& analysis,
    WindowLengths lengths = WindowLengths::constant_inside);

// The factors of a product, written with * or as the first two arguments of fmaf.
[[nodiscard]] std::vector<ExprPtr> factors_of(const ExprPtr& value);
// What the update adds: without the sum itself. Null where it does something else.
[[nodiscard]] ExprPtr added_by(const WindowUpdate& update);

}  // namespace regraph::rewrite
