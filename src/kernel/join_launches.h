// Several launches and the kernels they launch, joined by the names of what is passed. Private to
// make_problem.
#pragma once

#include "kernel/manifest.h"

namespace regraph::manifest_internal {

struct JoinedLaunches {
  std::vector<Parameter> parameters;  // each argument once, in order of first use; then symbols
  LaunchPlan plan;                    // every launch with its arguments
};

// "path:line: what".
[[nodiscard]] Error error_in(const Manifest& manifest, int line, const std::string& what,
                             ErrorCode code = ErrorCode::invalid_argument);

// Errors (invalid_argument, not_found) name the launch's line.
[[nodiscard]] Result<JoinedLaunches> join_launches(const Manifest& manifest,
                                                   const std::vector<KernelSignature>& signatures,
                                                   const Symbols& sizes);

// Sets shape and type of a scratch buffer, and checks them against what the kernels take.
[[nodiscard]] Status join_scratch(const Manifest& manifest, const ManifestScratch& said,
                                  const Parameter& parameter, Argument& argument);

}  // namespace regraph::manifest_internal
