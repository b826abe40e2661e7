// What the code says without the ways of saying it that steps need not know.
#pragma once

#include "kernel/problem.h"
#include "source/ir.h"

namespace regraph::rewrite {

struct PlainForm {
  source::Kernel kernel;
  bool needs_distinct_buffers = false;  // else it would not compute the same
};

// The kernel with `continue` as branches, branches that only choose a value as that value, scalars
// declared where they get it, and array elements that loops update in registers (early_exits.h,
// selected_values.h, webs.h, element_registers.h). With opaque code it stays as it is.
[[nodiscard]] PlainForm plain_form(const source::Kernel& kernel, const Problem& problem);

}  // namespace regraph::rewrite
