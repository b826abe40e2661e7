// A policy at work in a search.
#pragma once

#include "policy/policy_model.h"
#include "regraph/edge_scorer.h"

#include <string>

namespace regraph::policy {

class PolicyScorer final : public EdgeScorer {
 public:
  // `graph` and `rewriter` must outlive it. `label` names the model, see description().
  PolicyScorer(PolicyReader reader, std::string label, const StepGraph& graph, std::string device,
               const Expander& rewriter)
      : reader_(std::move(reader)),
        label_(std::move(label)),
        features_(reader_.layout(), graph, std::move(device)),
        rewriter_(rewriter) {}
  PolicyScorer(const PolicyScorer&) = delete;
  PolicyScorer& operator=(const PolicyScorer&) = delete;

  void score(const Candidate& candidate, const ExpansionContext& context,
             std::vector<StepProposal>& proposals) const override {
    const auto opinions =
        reader_.opinions(features_.rows(view_of(candidate, context, proposals, rewriter_)));
    for (std::size_t index = 0; index < proposals.size(); ++index) {
      proposals[index].score.correction = opinions[index].correction;
      proposals[index].score.expected_log_gain = opinions[index].log_gain;
    }
  }
  [[nodiscard]] std::string description() const override { return label_; }

 private:
  const PolicyReader reader_;
  const std::string label_;
  const EdgeFeatures features_;
  const Expander& rewriter_;
};

}  // namespace regraph::policy
