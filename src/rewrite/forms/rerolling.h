// Loop rerolling: loops that were unrolled by hand, as the loops that they were.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/forms/unrolled_copies.h"

namespace regraph::rewrite {

struct RerolledLoops {
  Kernel kernel;
  CopyLicence relied_on;
};

// Takes a loop that repeats another one's body for several of its iterations and is followed by it
// for what is left:
//   for (; i + 3 < n; i += 4) { s += a[i]; s += a[i + 1]; s += a[i + 2]; s += a[i + 3]; }
//   for (; i < n; ++i) s += a[i];                ->   for (; i < n; ++i) s += a[i];
// The second may have a counter of its own that begins where whole groups end, and the first may
// count groups. Where sums may be reordered, several partial sums are one (partial_sums.h) if the
// loop can be rolled for that. For kernels without opaque code.
[[nodiscard]] RerolledLoops with_loops_rerolled(const Kernel& kernel, const CopyLicence& licence);

}  // namespace regraph::rewrite
