// Inverse rewrites (inverse/inverse_rewrite.h) applied to candidates.
#pragma once

#include "kernel/candidate.h"
#include "kernel/device_limits.h"
#include "kernel/problem.h"
#include "rewrite/forms/ir.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/launch_view.h"

#include <utility>

namespace regraph::rewrite {

// Like AstRewriter: of several launches only that of the kernel to optimise is changed; stateless
// beyond its problem, which must outlive it; thread-safe.
class InverseRewriter {
 public:
  InverseRewriter(const Problem& problem, DeviceLimits limits)
      : view_(problem), limits_(std::move(limits)) {}

  // Errors: refused, also for candidates without a parsed form.
  [[nodiscard]] Result<Candidate> apply(const InverseRewrite& inverse,
                                        const Candidate& candidate) const;

 private:
  const LaunchView view_;
  const DeviceLimits limits_;
};

}  // namespace regraph::rewrite
