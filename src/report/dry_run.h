// What --dry-run tells: the original's time and the steps a search would try first.
#pragma once

#include "eval/model/device.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "regraph/expander.h"

#include <string>
#include <vector>

namespace regraph {

// What would be sent to a language model.
struct PromptPreview {
  std::string title;
  std::vector<llm::ChatMessage> messages;
};

struct DryRunReport {
  const Problem& problem;
  const DeviceSpec& device;
  const Evaluation& evaluation;  // of the original; correct
  std::vector<StepProposal> proposals;
  std::vector<double> priors;  // one a proposal
  std::string opaque_reason;   // why the rewriter has no proposals; empty when it can work
  std::vector<PromptPreview> prompts = {};  // empty: no language model
  std::string cost = {};                    // of asking it, in words
};

// For people; proposals by falling prior.
[[nodiscard]] std::string dry_run_text(const DryRunReport& report);

// One JSON document, schema "regraph-dry-run/1".
[[nodiscard]] std::string dry_run_json(const DryRunReport& report);

}  // namespace regraph
