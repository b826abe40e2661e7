#include "session/ranked_steps.h"

#include "regraph/edge_scorer.h"
#include "regraph/neighbouring_settings.h"
#include "regraph/step_graph.h"

namespace regraph {

namespace {

PriorParts parts_of(const StepGraph& graph, const StepProposal& proposal,
                    const std::vector<std::string>& history, const Facts& facts,
                    const GainSource& source) {
  const bool by_rewriter = !proposal.parameters.contains(kAppliedBy);
  const auto expected = graph.expectation(proposal.step, by_rewriter, history, facts, source);
  PriorParts parts{expected.evidence, expected.published, expected.log_gain, 0,
                   proposal.score.correction};
  if (const Step* step = graph.find(proposal.step)) {
    for (const auto& [device, statistics] : step->learned.by(source.method))
      parts.families += statistics.families;
  }
  return parts;
}

}  // namespace

RankedSteps ranked_steps(const Session& session, const SessionExpander& expander,
                         const Candidate& candidate, const ExpansionContext& context,
                         const Cancellation& cancellation) {
  RankedSteps steps;
  steps.proposals = expander.expander().propose(candidate, context, cancellation);
  if (const EdgeScorer* scorer = session.scorer())
    scorer->score(candidate, context, steps.proposals);
  const Facts& facts = context.evaluation.facts;
  const GainSource source{session.device().name, context.evaluation.time.method};
  steps.priors = session.graph().priors(context.history, facts, source, steps.proposals);
  spread_over_settings(steps.proposals, steps.priors);
  steps.parts.reserve(steps.proposals.size());
  for (const StepProposal& proposal : steps.proposals)
    steps.parts.push_back(parts_of(session.graph(), proposal, context.history, facts, source));
  return steps;
}

}  // namespace regraph
