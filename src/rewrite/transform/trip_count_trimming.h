// Trip-count trimming: loops end where their iterations begin to do nothing.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <map>
#include <string>

namespace regraph::rewrite {

// Returns the kernel's body in which loops whose counters are in `depths` end at that number, where
// all iterations at and beyond it would do nothing but to add zeros to sums:
//   for (k = 0; k < (n + 15) / 16 * 16; ++k) sum += (k < n ? a[k] : 0) * (k < n ? b[k] : 0);
//     ->   for (k = 0; k < n; ++k) sum += ...
// A product is zero only where all of its factors are known numbers: zero times an element would be
// no number where that is infinite or none. (A sum that is the negative zero stays it, which is the
// only difference.) The loops reach the number, where that is above zero.
[[nodiscard]] Block with_trimmed_trip_counts(const Kernel& kernel,
                                             const std::map<std::string, Polynomial>& depths);

}  // namespace regraph::rewrite
