// One way through the steps instead of a search: to see what each of them does, and to go a known
// way again with something changed.
#pragma once

#include "regraph/expander.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

// Offers the path's first step at the original, its second one behind that, and nothing else;
// another expander applies them, and says why where one does not apply. Thread-safe as that is.
class FixedPathExpander final : public Expander {
 public:
  // `steps` must outlive this.
  FixedPathExpander(const Expander& steps, std::vector<StepProposal> path)
      : steps_(steps), path_(std::move(path)) {}

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;
  [[nodiscard]] bool repeatable(const StepProposal& proposal) const override {
    return steps_.repeatable(proposal);
  }
  [[nodiscard]] bool wants_story() const override { return steps_.wants_story(); }
  [[nodiscard]] Result<Candidate> restore(const Candidate& stored) const override {
    return steps_.restore(stored);
  }
  [[nodiscard]] double longest_seconds() const override { return steps_.longest_seconds(); }

  // The first step that was refused so far, and why: "smem_tile(depth=8, loop=1): ...".
  [[nodiscard]] std::optional<std::string> refusal() const;

 private:
  const Expander& steps_;
  std::vector<StepProposal> path_;
  mutable std::mutex mutex_;
  mutable std::optional<std::string> refusal_;
};

}  // namespace regraph
