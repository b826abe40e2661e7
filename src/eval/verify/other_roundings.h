// Results in half precision or bfloat16 that are rounded once, from fp32: honest arithmetic, in any
// order, rounds nearly all of them alike, because few lie where an error of fp32 decides.
#pragma once

#include "eval/compile/compiled_plan.h"
#include "eval/verify/comparison.h"
#include "eval/verify/loaded_plan.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::verify {

struct OtherRoundings {
  std::size_t values = 0;  // that the original's results take
  // Of these; of a value that several elements have, the share of them that is another. So a value
  // that a kernel writes to a whole row counts once.
  double otherwise = 0.0;
};

// Of an output in half precision or bfloat16. A difference within `noise`, relative to the element
// and the root of the mean square, is none: near zero these types are finer than errors of fp32.
[[nodiscard]] OtherRoundings other_roundings(const OutputView& view, double noise);

// The kernel with sums and products of fp32 cut off instead of rounded: as far from the kernel as
// an honest one is, or farther.
[[nodiscard]] std::string rounded_toward_zero(std::string_view ptx);
// Errors as load_plan.
[[nodiscard]] Result<LoadedPlan> load_toward_zero(const CompiledPlan& compiled,
                                                  const LaunchPlan& plan);

}  // namespace regraph::verify
