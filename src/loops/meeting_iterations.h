// Two iterations of a loop that cannot run side by side, for people.
#pragma once

#include "affine/placed_accesses.h"
#include "source/analysis.h"
#include "source/counted_loop.h"

#include <string>

namespace regraph::loops {

// Which iterations of the loop meet at an element, by trying small sizes: "iteration i = 1 writes
// a[1] (line 4), iteration i = 2 reads it (line 4), for example with n = 6". `one` stores. Where no
// meeting is found it says that nothing was proved; where an index depends on data, on what.
[[nodiscard]] std::string meeting_iterations(const source::Kernel& kernel,
                                             const source::Analysis& analysis,
                                             const source::CountedLoop& loop,
                                             const affine::PlacedAccess& one,
                                             const affine::PlacedAccess& other);

}  // namespace regraph::loops
