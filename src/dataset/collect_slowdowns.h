// Verified slow versions of a fast kernel, each with the step that repairs it: KernelCompare's
// augmentation without a language model.
#pragma once

#include "base/cancellation.h"
#include "dataset/collected.h"
#include "dataset/opened_kernel.h"
#include "session/installation.h"
#include "session/session_error.h"

namespace regraph::dataset {

struct SlowdownSource {
  KernelSource kernel;  // a fast one
  int depth = 2;        // things taken away one after the other, at most
};

// Takes away what makes the kernel fast (rewrite/inverse), and what steps of the rewriter make
// slower; executes what comes of it; and looks for the step with which the rewriter comes back to
// the faster kernel. Errors: as Session::open, interrupted.
[[nodiscard]] Result<Collected, SessionError> collect_slowdowns(const SlowdownSource& source,
                                                                const Installation& installation,
                                                                const Cancellation& cancellation);

}  // namespace regraph::dataset
