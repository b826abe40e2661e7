// Names for what another variable holds, as that variable: inlined functions leave such.
//
//   const float value = peak; const float result = value; ... expf(x - result)  ->  expf(x - peak)
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// The kernel without variables that are given another one's value and nothing else, where that does
// not change any more.
[[nodiscard]] source::Kernel with_forwarded_copies(const source::Kernel& kernel);

}  // namespace regraph::rewrite
