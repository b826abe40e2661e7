#include "agent/pair_record.h"

#include "dataset/collected.h"

#include <utility>

namespace regraph::agent {

Status keep_pair(AgentProblem& problem, const Candidate& candidate, const ToolContext& context) {
  auto pair = problem.pairs().make({problem.session().original(), candidate, {}, {}, "by an agent"},
                                   context.cancellation);
  if (!pair) return std::move(pair).error();
  dataset::Collected collected;
  collected.problems.push_back(problem.registered());
  collected.pairs.push_back(*std::move(pair));
  collected.considered = 1;
  std::string text = dataset::collected_text(collected);
  // A file that is there has its header already.
  if (context.workspace.has(dataset::kCollectedFile)) text.erase(0, text.find('\n') + 1);
  return context.workspace.append(dataset::kCollectedFile, text);
}

}  // namespace regraph::agent
