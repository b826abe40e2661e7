// Loop coalescing: loops over strips of constant length as one loop over all of their iterations.
//
//   for (int t = 0; t < (n + 15) / 16; ++t)
//     for (int k = 0; k < 16; ++k) f(t * 16 + k);
// becomes
//   for (int k = 0; k < (n + 15) / 16 * 16; ++k) f(k);
//
// The iterations and their order are the same: nothing is added up in another way.
#pragma once

#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <map>
#include <string>

namespace regraph::rewrite {

struct CoalescedLoops {
  Block body;
  // By counter: the number of things that the strips are made for, n above, where that is known. As
  // many strips as hold them are run, where there are any.
  std::map<std::string, Polynomial> depths;
};

// Merges the loops of the kernel of which the outer one does nothing but to run the inner one,
// under conditions or not, and in which all that mentions the counters mentions them as t * 16 + k
// does. Others stay.
[[nodiscard]] CoalescedLoops with_coalesced_loops(const Kernel& kernel, const Dim3& block,
                                                  const Problem& problem);

}  // namespace regraph::rewrite
