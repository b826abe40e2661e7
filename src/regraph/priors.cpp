// Priors of the search from the ReGraph.
//
//   P(a) = 0.9 * share(step of a) / (number of proposals of that step) + 0.1 / |A|
//   share(s) = score(s) / sum of score over the distinct steps proposed
//   score(s) = 0.02 + evidence(s) * max(0, G(s)) * success(s)
//
// G(s) and success(s) average the transitions into s from the steps already applied, the latest
// first: source i = 0, 1, ... (then "init") has weight 2^-i, because what was done last decides
// what the next bottleneck is, but a step that pays after "coalesce" still pays after a detour. A
// source without a transition to s takes part with half the mean gain of all transitions into s:
// the graph does not know the pair, but it knows the step.
//
// Where opinions were asked for (answers of a language model), they enter as if each were one
// more observation beside a prior worth kPriorOpinions of them, as in a Dirichlet posterior mean:
//
//   P'(a) = (k P(a) + n share(a)) / (k + n)     share(a) = how many of n opinions named a's step,
//                                               each opinion shared among the steps it names
//
// The score is linear in the expected log-gain because log-gains add along a path. A step that does
// not appear to pay keeps the floor, and 10 % of the mass is uniform, so that nothing is excluded.
#include "regraph/step_graph.h"

#include <algorithm>
#include <map>

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

}  // namespace

double StepGraph::step_score(std::string_view step, std::span<const std::string> history,
                             const Facts& facts, std::string_view device) const {
  const Step* known = find(step);
  if (known == nullptr) return kScoreFloor + 0.5 * kGainOfUnknown;

  double mean_gain = 0.0;
  double mean_success = 0.0;
  const Vertex target = *vertex(step);
  for (const std::size_t edge : incoming_[target]) {
    mean_gain += edges_[edge].transition.expected_log_gain(device);
    mean_success += edges_[edge].transition.success_rate();
  }
  if (const auto count = static_cast<double>(incoming_[target].size()); count > 0) {
    mean_gain /= count;
    mean_success /= count;
  } else {
    mean_gain = kGainOfUnknown;
    mean_success = Transition{}.success_rate();
  }

  double gain = 0.0;
  double success = 0.0;
  double total_weight = 0.0;
  double weight = 1.0;
  const auto add_source = [&](std::string_view source) {
    const Transition* listed = transition(source, step);
    gain += weight *
            (listed != nullptr ? listed->expected_log_gain(device) : kUnlistedDiscount * mean_gain);
    success += weight * (listed != nullptr ? listed->success_rate() : mean_success);
    total_weight += weight;
    weight *= kHistoryDecay;
  };
  const std::size_t considered = std::min(history.size(), kHistoryLength);
  for (std::size_t age = 0; age < considered; ++age)
    add_source(history[history.size() - 1 - age]);
  add_source(kInit);

  return kScoreFloor + known->evidence_match(facts) * std::max(0.0, gain / total_weight) *
                           (success / total_weight);
}

std::vector<double> StepGraph::priors(std::span<const std::string> history, const Facts& facts,
                                      std::string_view device,
                                      std::span<const StepProposal> proposals) const {
  struct Share {
    double score = 0.0;
    int proposals = 0;
  };
  std::map<std::string_view, Share> shares;
  for (const StepProposal& proposal : proposals)
    ++shares[proposal.step].proposals;
  double total = 0.0;
  for (auto& [step, share] : shares) {
    share.score = step_score(step, history, facts, device);
    total += share.score;
  }
  std::vector<double> result;
  result.reserve(proposals.size());
  const double uniform =
      kUniformShare / static_cast<double>(std::max<std::size_t>(1, proposals.size()));
  double named = 0.0;
  int opinions = 0;
  for (const StepProposal& proposal : proposals) {
    const Share& share = shares.at(proposal.step);
    result.push_back((1.0 - kUniformShare) * share.score / (total * share.proposals) + uniform);
    named += proposal.named_share / share.proposals;
    opinions = std::max(opinions, proposal.opinions);
  }
  if (opinions == 0 || !(named > 0.0)) return result;
  // What was named and cannot be done is left out, so the shares are of what can.
  const double trust = opinions / (kPriorOpinions + opinions);
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    const StepProposal& proposal = proposals[index];
    const double share = proposal.named_share / shares.at(proposal.step).proposals / named;
    result[index] = (1.0 - trust) * result[index] + trust * share;
  }
  return result;
}

}  // namespace regraph
