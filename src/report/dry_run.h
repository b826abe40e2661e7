// What --dry-run tells: the original's time and the steps a search would try first.
#pragma once

#include "eval/model/device.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "regraph/expander.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph {

// What would be sent to a language model.
struct PromptPreview {
  std::string title;
  std::vector<llm::ChatMessage> messages;
};

// What a prior is made of (regraph/priors.cpp).
struct PriorParts {
  double evidence = 0.0;      // 0 to 1
  double published = 0.0;     // log-gain
  double expected = 0.0;      // log-gain, with what the graph has learned
  std::int64_t families = 0;  // that it learned the step from, by the way of timing asked for
  double policy = 0.0;        // correction of the logit
};

struct DryRunReport {
  const Problem& problem;
  const DeviceSpec& device;
  const Evaluation& evaluation;  // of the original; correct
  std::vector<StepProposal> proposals;
  std::vector<double> priors;     // one a proposal
  std::vector<PriorParts> parts;  // one a proposal
  std::string opaque_reason;      // why the rewriter has no proposals; empty when it can work
  // Why other steps are not proposed: "step(parameters)" -> reason. Empty: not asked for.
  std::map<std::string, std::string> refusals = {};
  std::vector<PromptPreview> prompts = {};  // empty: no language model
  std::string cost = {};                    // of asking it, in words
};

// For people; proposals by falling prior.
[[nodiscard]] std::string dry_run_text(const DryRunReport& report);

// One JSON document, schema "regraph-dry-run/1".
[[nodiscard]] std::string dry_run_json(const DryRunReport& report);

}  // namespace regraph
