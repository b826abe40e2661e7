// How far a prediction can be trusted: what the model left out or was undecided about.
#pragma once

#include "eval/model/timing_model.h"

namespace regraph {

// Sets the facts of kernel/caveats.h that apply to a prediction of these bounds and returns the
// half width of its interval, a fraction: kPredictionUncertainty without a caveat, else its root
// sum of squares with what each caveat adds.
[[nodiscard]] double assess_reliability(const ModelInput& input, const TimeBounds& bounds,
                                        bool counted_in_ptx, Facts& facts);

}  // namespace regraph
