// propose_steps and apply_step.
#include "agent/tool_groups.h"
#include "report/refusals.h"
#include "session/opened_problem.h"
#include "session/ranked_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace regraph::agent {

namespace {

// More than this no model reads.
constexpr std::size_t kMostProposals = 60;

std::vector<std::size_t> by_falling_prior(const RankedSteps& steps) {
  std::vector<std::size_t> order(steps.proposals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return steps.priors[a] > steps.priors[b]; });
  return order;
}

ToolJson proposals_json(const RankedSteps& steps) {
  ToolJson list = ToolJson::array();
  for (const std::size_t index : by_falling_prior(steps)) {
    const StepProposal& step = steps.proposals[index];
    const PriorParts& parts = steps.parts[index];
    list.push_back({{"step", step.step},
                    {"parameters", step.parameters},
                    {"prior", steps.priors[index]},
                    {"evidence", parts.evidence},
                    {"expected_gain", std::exp(parts.expected)}});
  }
  return list;
}

}  // namespace

ToolResult propose_steps_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  if (!subject.candidate) return not_judged(subject.why);
  AgentProblem& problem = *subject.problem;
  const Candidate& candidate = *subject.candidate;
  ExpansionContext at;
  at.evaluation = problem.judge(candidate, context.cancellation);
  if (!at.evaluation.correct()) {
    return {fmt::format("no steps: it does not compute what the original does ({}): {}",
                        name(at.evaluation.verdict), at.evaluation.message),
            verdict_json(at.evaluation), false};
  }
  const Session& session = problem.session();
  const RankedSteps steps =
      ranked_steps(session, problem.expander(), candidate, at, context.cancellation);
  std::string opaque;
  if (candidate.form == nullptr) {
    opaque = subject.is_original ? session.opened().opaque_reason
                                 : "the rewriter cannot read this candidate's text";
  }
  std::map<std::string, std::string> refused;
  if (const rewrite::AstRewriter* rewriter = problem.expander().rewriter();
      rewriter != nullptr && candidate.form != nullptr)
    refused = rewriter->refusals(candidate);
  std::string text = "steps by prior probability (apply_step takes name and parameters):\n";
  const std::vector<std::size_t> order = by_falling_prior(steps);
  for (std::size_t i = 0; i < std::min(order.size(), kMostProposals); ++i) {
    fmt::format_to(std::back_inserter(text), "  {:.3f}  {:44}  {:.2f}x expected\n",
                   steps.priors[order[i]], steps.proposals[order[i]].text(),
                   std::exp(steps.parts[order[i]].expected));
  }
  if (order.size() > kMostProposals)
    fmt::format_to(std::back_inserter(text), "  and {} more\n", order.size() - kMostProposals);
  if (order.empty()) text += "  none" + (opaque.empty() ? "" : ": " + opaque) + "\n";
  if (!refused.empty()) text += "not proposed:\n" + refusals_text(refused, steps.proposals);
  ToolJson json{{"steps", proposals_json(steps)}, {"refused", refused}};
  if (!opaque.empty()) json["opaque_reason"] = opaque;
  return {std::move(text), std::move(json), false};
}

ToolResult apply_step_tool(const ToolContext& context) {
  auto found = subject_of(context);
  if (auto* answer = std::get_if<ToolResult>(&found)) return std::move(*answer);
  auto& subject = std::get<Subject>(found);
  if (!subject.candidate) return not_judged(subject.why);
  AgentProblem& problem = *subject.problem;
  StepProposal proposal;
  proposal.step = text_argument(context, "step");
  if (const auto given = context.arguments.find("parameters"); given != context.arguments.end())
    proposal.parameters = given->get<StepParameters>();
  const auto refused = [&](const std::string& why) {
    return ToolResult{fmt::format("REFUSED: {}: {}", proposal.text(), why),
                      {{"applied", false}, {"reason", why}},
                      false};
  };
  if (subject.candidate->form == nullptr) {
    return refused(subject.is_original ? problem.session().opened().opaque_reason
                                       : "the rewriter cannot read this candidate's text");
  }
  const auto child = problem.expander().expander().apply(*subject.candidate, proposal, 0, {},
                                                         context.cancellation);
  if (!child) {
    if (child.error().code == ErrorCode::cancelled) return failed_call("cancelled");
    return refused(child.error().message);
  }
  if (child->identity == subject.candidate->identity) return refused("it changes nothing here");
  ToolJson json{{"applied", true},
                {"source", child->source},
                {"launch", launch_json(child->plan, problem.session())},
                {"assumptions", child->assumptions}};
  std::string text =
      fmt::format("applied {}\nlaunch: {}\n", proposal.text(), json["launch"].dump());
  for (const std::string& assumption : child->assumptions)
    fmt::format_to(std::back_inserter(text), "relies on: {}\n", assumption);
  text += code_block(child->source);
  return {std::move(text), std::move(json), false};
}

}  // namespace regraph::agent
