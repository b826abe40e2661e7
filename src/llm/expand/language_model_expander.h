// The expander that asks a language model.
//
//   propose:  state ──StepChooser──> model ──> steps, plans, states to combine ──> proposals
//   apply:    state, proposal ──RequestMaker──> model ──> answer ──StepWriter──> candidate
//
// Nothing that comes back is believed: a candidate is one like any other and counts when the
// evaluator has found it correct.
#pragma once

#include "candidate/candidate_reader.h"
#include "eval/evaluator.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "llm/expand/expansion_statistics.h"
#include "llm/expand/request_maker.h"
#include "llm/expand/step_chooser.h"
#include "llm/expand/step_writer.h"
#include "llm/prompt/prompt_library.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <string>
#include <vector>

namespace regraph::llm {

struct LanguageModelConfig {
  RequestConfig requests;
  ChooserConfig choosing;
  WriterConfig writing;
  double request_seconds = 120.0;  // a call may take, retries included
};

// What the expander works with; everything must outlive it.
struct ExpanderParts {
  const Problem& problem;
  const StepGraph& graph;
  const PromptLibrary& prompts;
  const PromptDevice& device;
  const CandidateReader& reader;
  ChatModel& model;
  Evaluator& evaluator;  // one that remembers: the search asks for the same evaluation again
};

// Thread-safe. Where it applies nothing, it only says which of the others' proposals it would try.
// Else proposals of the model carry the parameter {"by", "model"}. After other expanders
// (CompositeExpander) it offers steps that they do not, names the best of theirs too, and leaves
// out its own that it did not name when it was asked.
class LanguageModelExpander final : public Expander {
 public:
  LanguageModelExpander(const ExpanderParts& parts, const LanguageModelConfig& config);
  LanguageModelExpander(const LanguageModelExpander&) = delete;
  LanguageModelExpander& operator=(const LanguageModelExpander&) = delete;

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  void add_proposals(const Candidate& candidate, const ExpansionContext& context,
                     std::vector<StepProposal>& proposals,
                     const Cancellation& cancellation) const override;
  [[nodiscard]] bool owns(const StepProposal& proposal) const override;
  // Errors: as StepWriter::write. A step that was declined here before is declined without asking,
  // and so is one at a state that is left behind.
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;
  [[nodiscard]] bool repeatable(const StepProposal& proposal) const override;
  // What it offers depends on how a state was come by, whether it asks or not.
  [[nodiscard]] bool proposes_freely() const override { return false; }
  [[nodiscard]] bool wants_story() const override { return true; }
  [[nodiscard]] Result<Candidate> restore(const Candidate& stored) const override;
  [[nodiscard]] double longest_seconds() const override;

  [[nodiscard]] ExpansionStatistics statistics() const { return tally_.snapshot(); }

  // For --dry-run and data sets: the first request to apply a proposal, and the one for steps,
  // without asking. Error (refused): as RequestMaker::apply.
  [[nodiscard]] Result<ChatRequest> apply_request(const Candidate& candidate,
                                                  const StepProposal& proposal, int variant,
                                                  const ExpansionContext& context) const;
  [[nodiscard]] ChatRequest propose_request(const Candidate& candidate,
                                            const ExpansionContext& context) const;

 private:
  const ExpanderParts parts_;
  const LanguageModelConfig config_;
  mutable ExpansionTally tally_;
  const RequestMaker requests_;
  const StepChooser chooser_;
  const StepWriter writer_;
};

}  // namespace regraph::llm
