// What the code says without the ways of saying it that steps need not know.
#pragma once

#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

struct PlainForm {
  Kernel kernel;
  bool needs_distinct_buffers = false;  // else it would not compute the same
  bool reorders_sums = false;           // of floating point
};

// What may be relied on.
struct PlainFormLicence {
  bool distinct_buffers = false;
  std::vector<std::string> raced = {};  // buffers that threads race on, and may
  bool reordered_sums = false;
};

// The kernel with `__ldg(&x[i])` as plain loads (where buffers are distinct), atomics on elements,
// `continue` as branches, loops that count as such, branches that only choose a value as that
// value, straight values and scalars declared where they get their value, loops without their
// unrolling, copies and long sums as loops, sums that are scaled where a maximum grows, what goes
// along with a counter written by it, conditions without what holds anyway, and array elements in
// registers that loops update or hand to the next iteration (addressed_elements.h,
// early_exits.h, counted_loops.h, if_conversion.h, single_assignment.h, webs.h, rerolling.h,
// rolled_copies.h, rolled_sums.h, scaled_sums.h, induction_variables.h, constant_lengths.h,
// rebased_counters.h, dead_guards.h, element_registers.h, previous_elements.h). With opaque code it
// stays as it is.
[[nodiscard]] PlainForm plain_form(const Kernel& kernel, const PlainFormLicence& licence);

}  // namespace regraph::rewrite
