// Faster kernels that agents found, kept so that regraph-dataset can take them in.
#pragma once

#include "agent/problem_shelf.h"
#include "agent/tool_context.h"
#include "base/result.h"
#include "kernel/candidate.h"

namespace regraph::agent {

// Executes the original and the candidate once more and adds them to dataset::kCollectedFile of the
// workspace. Errors: refused (why they are no pair), cancelled, io, resource.
[[nodiscard]] Status keep_pair(AgentProblem& problem, const Candidate& candidate,
                               const ToolContext& context);

}  // namespace regraph::agent
