// The expander that asks a language model.
//
//   propose:  state ──prompt──> model ──> steps ──aliases──> catalogue ──> proposals
//   apply:    state, step ──prompt──> model ──> answer ──parse──> text ──read──> candidate
//                               ^                                                   │
//                               └── repair: what is wrong, at most R rounds <── evaluate
//
// Nothing that comes back is believed: a candidate is one like any other and counts when the
// evaluator has found it correct.
#pragma once

#include "eval/evaluator.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "llm/expand/candidate_reader.h"
#include "llm/expand/expansion_statistics.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/prompt_library.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::llm {

struct LanguageModelConfig {
  std::string model;                  // name that the server knows
  std::optional<double> temperature;  // none: the server's own
  std::uint64_t seed = 1;             // of the search; each request derives its own from it
  bool send_seed = true;              // some servers refuse one
  int max_tokens = 0;                 // of an answer; 0: the server's own
  int variants = 2;                   // answers to a step at a candidate, at most
  int repair_rounds = 1;              // corrections of an answer that fails, at most
  bool propose = true;                // ask which steps to try
  bool apply = true;                  // offer steps to be applied by the model; else it only names
  int opinions = 1;                   // answers to the question which steps to try
  bool judge = false;                 // ask a judge before a repair and about bottlenecks
  double request_seconds = 120.0;     // a call may take, retries included
  EvaluationBudget evaluation;        // of a candidate, as the search itself does it
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
// out its own that neither it nor the facts recommend.
class LanguageModelExpander final : public Expander {
 public:
  LanguageModelExpander(const ExpanderParts& parts, LanguageModelConfig config)
      : parts_(parts), config_(std::move(config)) {}

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  void add_proposals(const Candidate& candidate, const ExpansionContext& context,
                     std::vector<StepProposal>& proposals,
                     const Cancellation& cancellation) const override;
  [[nodiscard]] bool owns(const StepProposal& proposal) const override;
  // Errors: refused (the answer was rejected, changed nothing, or the
  // model refused; the message says why), io (no answer came), resource (the budget is used up),
  // cancelled. A candidate that is still wrong after the last repair is returned: its verdict
  // counts.
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;
  [[nodiscard]] bool repeatable(const StepProposal& proposal) const override;
  [[nodiscard]] bool proposes_freely() const override { return !config_.propose; }
  [[nodiscard]] Result<Candidate> restore(const Candidate& stored) const override;
  [[nodiscard]] double longest_seconds() const override;

  [[nodiscard]] ExpansionStatistics statistics() const { return tally_.snapshot(); }

  // For --dry-run: the first request for each of the steps, without asking.
  [[nodiscard]] ChatRequest apply_request(const Candidate& candidate, const StepProposal& proposal,
                                          int variant, const ExpansionContext& context) const;
  [[nodiscard]] ChatRequest propose_request(const Candidate& candidate,
                                            const ExpansionContext& context) const;

 private:
  struct Attempt;  // one answer and what became of it

  [[nodiscard]] PromptState state_of(const Candidate& candidate,
                                     const Evaluation& evaluation) const;
  // Steps that the user grants and that have something to do where these facts hold.
  [[nodiscard]] std::vector<const Step*> catalogue(const Facts& facts) const;
  [[nodiscard]] ChatRequest request(std::vector<ChatMessage> messages, std::uint64_t salt,
                                    PromptKind kind) const;
  void drop_unpromising(const Facts& facts, std::vector<StepProposal>& proposals) const;
  void name_steps(const Candidate& candidate, const ExpansionContext& context,
                  const Cancellation& cancellation, std::vector<StepProposal>& proposals) const;
  // `shown` is the candidate that the request is about: the parent, or the one to be repaired. An
  // answer without a launch keeps that of `shown`.
  [[nodiscard]] Attempt attempt(const ChatRequest& request, const Candidate& parent,
                                const Candidate& shown, const Cancellation& cancellation) const;
  [[nodiscard]] std::vector<ChatMessage> repair_messages(const ChatRequest& first,
                                                         const Attempt& failed,
                                                         const Candidate& parent, const Step& step,
                                                         std::uint64_t salt,
                                                         const Cancellation& cancellation) const;

  const ExpanderParts parts_;
  const LanguageModelConfig config_;
  mutable ExpansionTally tally_;
};

// Whether the model, not the rewriter, applies a proposal.
[[nodiscard]] bool is_by_model(const StepProposal& proposal);

}  // namespace regraph::llm
