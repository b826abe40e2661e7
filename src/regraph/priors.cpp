// Priors of the search from the ReGraph.
//
//   P(a) = 0.9 * share(a) + 0.1 / |A|
//   share(a) ~ score(step of a) / (number of proposals of that step) * exp(F(a) + r(a))
//   score(s) = 0.02 + evidence(s) * max(0, G(s)) * success(s)
//
// F(a) is what a policy adds to the logit, r(a) what this very search adds (0 without them).
//
// G(s) averages mu over the transitions into s from the steps already applied, the latest first:
// source i = 0, 1, ... (then "init") has weight 2^-i, because what was done last decides what the
// next bottleneck is, but a step that pays after "coalesce" still pays after a detour. With nothing
// learned of s, mu is the published log-gain; a source without a transition takes part with half
// the mean over all transitions into s: the graph does not know the pair, but it knows the step.
// With something learned (y: votes of families, regraph/gain_statistics.h):
//
//   pi(s)  = mean over published transitions into s of max(0, ln published)
//   mu(s)  = (w0 pi(s) + sum y) / (w0 + n)                      over all devices
//   mu(t)  = (w1 mu(s) r(t) + sum y) / (w1 + n)                 over other devices, then
//            (w2 mu(t) + sum y) / (w2 + n)                      over this one
//   r(t)   = max(0, ln published(t)) / pi(s) within [1/4, 4]; 1 where nothing was published
//
// and success(s) = (a + verified) / (a + b + tries). A rewriter that proves legality hardly ever
// fails (0.5 % of 1,152 edges), so a, b = 49, 1 for its proposals and 4, 1 for those of a language
// model.
//
// Where opinions were asked for (answers of a language model), they enter as if each were one
// more observation beside a prior worth kPriorOpinions of them, as in a Dirichlet posterior mean:
//
//   P'(a) = (k P(a) + n share(a)) / (k + n)     share(a) = how many of n opinions named a, each
//                                               shared among the proposals that it names
//
// Steps that the graph does not know (made up, or standing for several) are expected to bring 2 %;
// those that an opinion named get the mean score of the known steps that were named beside them, as
// the graph has nothing to say against them.
//
// The score is linear in the expected log-gain because log-gains add along a path. A step that does
// not appear to pay keeps the floor, and 10 % of the mass is uniform, so that nothing is excluded.
#include "regraph/step_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace regraph {

namespace {

constexpr double kUniformShare = 0.1;
constexpr double kScoreFloor = 0.02;
constexpr double kHistoryDecay = 0.5;
constexpr double kUnlistedDiscount = 0.5;
constexpr std::size_t kHistoryLength = 8;  // 2^-8: older steps no longer change a score visibly
// Steps nobody described: a gain of 2 %, the smallest that a timing can tell from noise.
constexpr double kGainOfUnknown = 0.02;
// One opinion moves a third of the mass: enough to be tried first, not enough to silence the rest.
constexpr double kPriorOpinions = 2.0;
// What a published figure and a coarser level are worth, in families. Leaving kernels out, the
// error of an edge's gain is flat in these weights from 1 to 16. Published figures rank first steps
// of families left out better than 28 families do, so they weigh more than a few of them.
constexpr double kStepWeight = 8.0;
constexpr double kEdgeWeight = 4.0;  // beside the transition's own
constexpr double kDeviceWeight = 4.0;
constexpr double kLargestRatio = 4.0;  // of a published gain to the step's mean
// Beta priors of the chance that a result is correct.
struct SuccessPrior {
  double successes;
  double failures;
};
constexpr SuccessPrior kRewriterSuccess{49.0, 1.0};
constexpr SuccessPrior kModelSuccess{4.0, 1.0};
// A correction beyond this says no more than one that reaches it.
constexpr double kLargestShift = 20.0;

double success_rate(const LearnedGains& learned, const SuccessPrior& prior) {
  return (prior.successes + static_cast<double>(learned.verified())) /
         (prior.successes + prior.failures + static_cast<double>(learned.tries()));
}

}  // namespace

std::optional<double> StepGraph::published_gain(Vertex target) const {
  double sum = 0.0;
  int count = 0;
  for (const std::size_t edge : incoming_[target]) {
    const Transition& transition = edges_[edge].transition;
    if (!transition.published()) continue;
    sum += std::max(0.0, std::log(transition.expected_speedup));
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

StepGraph::Expectation StepGraph::expectation(std::string_view step, bool by_rewriter,
                                              std::span<const std::string> history,
                                              const Facts& facts, const GainSource& source) const {
  Expectation result;
  const Step* known = find(step);
  if (known == nullptr) {
    result.evidence = 0.5;
    result.published = result.log_gain = kGainOfUnknown;
    result.success = 1.0;
    result.score = kScoreFloor + result.evidence * kGainOfUnknown;
    return result;
  }
  const bool learned = known->learned.speaks_of(source);
  const double pi = published_gain(*vertex(step)).value_or(kGainOfUnknown);
  const double step_gain = known->learned.pooled(pi, kStepWeight, source);

  double total_weight = 0.0;
  double weight = 1.0;
  const auto add_source = [&](std::string_view from) {
    const Transition* edge = transition(from, step);
    const bool listed = edge != nullptr && edge->published();
    const double logarithm = listed ? std::log(edge->expected_speedup) : kUnlistedDiscount * pi;
    double expected = logarithm;
    if (learned) {
      const double ratio = listed && pi > 0.0 ? std::clamp(std::max(0.0, logarithm) / pi,
                                                           1.0 / kLargestRatio, kLargestRatio)
                                              : 1.0;
      expected = step_gain * ratio;
      if (edge != nullptr) {
        expected =
            edge->learned.own(expected, kEdgeWeight + edge->prior_weight, kDeviceWeight, source);
      }
    }
    result.published += weight * logarithm;
    result.log_gain += weight * expected;
    total_weight += weight;
    weight *= kHistoryDecay;
  };
  const std::size_t considered = std::min(history.size(), kHistoryLength);
  for (std::size_t age = 0; age < considered; ++age)
    add_source(history[history.size() - 1 - age]);
  add_source(kInit);

  result.published /= total_weight;
  result.log_gain /= total_weight;
  result.evidence = known->evidence_match(facts);
  // Without observations all steps are equally likely to succeed.
  result.success =
      learned ? success_rate(known->learned, by_rewriter ? kRewriterSuccess : kModelSuccess)
              : success_rate({}, kModelSuccess);
  result.score = kScoreFloor + result.evidence * std::max(0.0, result.log_gain) * result.success;
  return result;
}

std::vector<double> StepGraph::priors(std::span<const std::string> history, const Facts& facts,
                                      const GainSource& source,
                                      std::span<const StepProposal> proposals,
                                      std::span<const double> shifts) const {
  struct Share {
    double score = 0.0;
    int proposals = 0;
  };
  std::map<std::string_view, Share> shares;
  for (const StepProposal& proposal : proposals) {
    Share& share = shares[proposal.step];
    if (share.proposals++ > 0) continue;
    const bool by_rewriter = !proposal.parameters.contains(kAppliedBy);
    share.score = expectation(proposal.step, by_rewriter, history, facts, source).score;
  }
  double known_scores = 0.0;
  int known_named = 0;
  std::set<std::string_view> counted;
  for (const StepProposal& proposal : proposals) {
    const bool counts = proposal.advice.named_share > 0.0 && find(proposal.step) != nullptr &&
                        counted.insert(proposal.step).second;
    if (!counts) continue;
    known_scores += shares.at(proposal.step).score;
    ++known_named;
  }
  for (const StepProposal& proposal : proposals) {
    if (known_named == 0 || !(proposal.advice.named_share > 0.0) || find(proposal.step) != nullptr)
      continue;
    Share& share = shares.at(proposal.step);
    share.score = std::max(share.score, known_scores / known_named);
  }
  std::vector<double> result;
  result.reserve(proposals.size());
  double total = 0.0;
  double named = 0.0;
  int opinions = 0;
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    const StepProposal& proposal = proposals[index];
    const Share& share = shares.at(proposal.step);
    const double shift = proposal.score.correction + (shifts.empty() ? 0.0 : shifts[index]);
    const double score =
        share.score / share.proposals * std::exp(std::clamp(shift, -kLargestShift, kLargestShift));
    result.push_back(score);
    total += score;
    named += proposal.advice.named_share;
    opinions = std::max(opinions, proposal.advice.opinions);
  }
  const double uniform =
      kUniformShare / static_cast<double>(std::max<std::size_t>(1, proposals.size()));
  for (double& prior : result)
    prior = (1.0 - kUniformShare) * prior / total + uniform;
  if (opinions == 0 || !(named > 0.0)) return result;
  // What was named and cannot be done is left out, so the shares are of what can.
  const double trust = opinions / (kPriorOpinions + opinions);
  for (std::size_t index = 0; index < proposals.size(); ++index)
    result[index] =
        (1.0 - trust) * result[index] + trust * proposals[index].advice.named_share / named;
  return result;
}

}  // namespace regraph
