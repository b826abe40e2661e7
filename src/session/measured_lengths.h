// Lengths as numbers, each at its sizes, where no expression of sizes gives them.
#pragma once

#include "session/observed_lengths.h"
#include "session/trial_launch.h"

#include <cstddef>
#include <string>
#include <vector>

namespace regraph {

struct MeasureRequest {
  std::vector<std::size_t> wanted;  // parameters whose length is asked
  std::vector<std::string> scaled;  // sizes that may be chosen
};

// Adds the lengths of what is wanted to `result`: constants, or sizes of their own ("x_length")
// that have a value for the bench size and for each test. Both are chosen here, as large as a
// launch can be looked at: `result.chosen`. Buffers hold what verification fills them with. Where
// a few blocks of many were looked at, a buffer has an eighth more than they touched. One where
// what is touched depends on contents has twice that, and at least as many elements as the largest
// of the others. Errors: unsupported (no such sizes), cancelled.
[[nodiscard]] Status measure_lengths(TrialLaunch& launch, const CompiledKernel& compiled,
                                     const KernelSignature& signature, const Manifest& draft,
                                     const MeasureRequest& request,
                                     const Cancellation& cancellation, ObservedLengths& result);

}  // namespace regraph
