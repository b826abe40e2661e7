// Trees that add up several shared arrays in the same rounds, as one tree after the other (loop
// fission): the form that steps look for.
//
//   sums[t] = s; squares[t] = q;                sums[t] = s;
//   barrier;                                    barrier;
//   for (d = 128; d > 0; d /= 2) {              for (d ...) { if (t < d) sums[t] += ...; barrier }
//     if (t < d) {                       ->     squares[t] = q;
//       sums[t] += sums[t + d];                 barrier;
//       squares[t] += squares[t + d];           for (d ...) { if (t < d) squares[t] += ...; barrier }
//     }
//     barrier;
//   }
#pragma once

#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

// The kernel with rounds taken apart whose updates share nothing but the guard; what is put into
// the arrays right before the rounds goes with each. Nothing where there are no such rounds.
[[nodiscard]] std::optional<Kernel> with_separate_trees(const Kernel& kernel);

}  // namespace regraph::rewrite
