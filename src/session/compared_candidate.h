// A candidate beside a session's original, as it is told.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "report/comparison_text.h"
#include "session/session.h"

#include <string>

namespace regraph {

// The candidate beside the original, or why there is none. `name` is the caller's own.
[[nodiscard]] ComparedKernel compared(Session& session, const std::string& name,
                                      Result<Candidate, SessionError> candidate,
                                      ComparisonDepth depth, const Cancellation& cancellation);

}  // namespace regraph
