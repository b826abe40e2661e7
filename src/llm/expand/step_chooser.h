// Which steps a model would try at a state, as proposals of the search.
//
//   answer ──names──> step of the ReGraph ──> the others' proposals of it, or one by the model
//                 ──> new step            ──> merged with one that means the same, or made up
//                 ──> plan                ──> leap
//                 ──> other state         ──> combine
//
// What was named is taken at its word: an empty list leaves nothing to be asked for, reasons and
// values go with the proposals.
#pragma once

#include "base/cancellation.h"
#include "llm/chat/chat.h"
#include "llm/expand/expansion_statistics.h"
#include "llm/expand/request_maker.h"
#include "llm/prompt/step_answer.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace regraph::llm {

enum class AskingStyle : std::uint8_t {
  separately,  // which steps, and then each of them
  together,    // which steps and the first of them applied, in one request
};

struct ChooserConfig {
  bool ask = true;     // which steps to try
  bool apply = true;   // offer steps to be applied by the model; else it only names
  bool judge = false;  // ask what limits the time, too
  int variants = 2;    // answers to a step at a candidate, at most
  AskingStyle style = AskingStyle::separately;
};

// An answer to a step that came with its choice.
struct AnswerInAdvance {
  ChatRequest request;  // that it is an answer to
  ChatChoice choice;    // without the list of steps
};

// Thread-safe.
class StepChooser {
 public:
  // The references must outlive this.
  StepChooser(const Assumptions& assume, const StepGraph& graph, const RequestMaker& requests,
              ChatModel& model, ExpansionTally& tally, ChooserConfig config)
      : assume_(assume),
        graph_(graph),
        requests_(requests),
        model_(model),
        tally_(tally),
        config_(config) {}

  // Adds the model's proposals to those of others, and what it thinks of these: where it was asked
  // and answered, those that it named. At a state within a few percent of its floor nothing is left
  // to be tried, of the others' either; at one that is beside the point the model
  // offers nothing.
  void add_proposals(const Candidate& candidate, const ExpansionContext& context,
                     std::vector<StepProposal>& proposals, const Cancellation& cancellation) const;

  // The answer that came with the choice of `proposal` at this candidate; each is given once.
  [[nodiscard]] std::optional<AnswerInAdvance> take_answer(const Candidate& candidate,
                                                           const StepProposal& proposal) const;

  // Steps that can be asked for at a state: granted, and not ruled out by what is known of it.
  [[nodiscard]] std::vector<const Step*> catalogue(const Facts& facts) const;

 private:
  // What came of asking.
  struct Opinions {
    int lists = 0;  // that could be read
    int empty = 0;  // of them
    std::vector<std::vector<NamedStep>> named;
    // With the style `together`: the first step of the first list, applied.
    std::optional<AnswerInAdvance> written;
  };

  [[nodiscard]] Opinions ask(const Candidate& candidate, const ExpansionContext& context,
                             const std::vector<const Step*>& catalogue,
                             const Cancellation& cancellation) const;
  void ask_judge(const Candidate& candidate, const ExpansionContext& context,
                 const std::vector<const Step*>& catalogue, Opinions& opinions,
                 const Cancellation& cancellation) const;
  void vote(const Opinions& opinions, const ExpansionContext& context,
            std::vector<StepProposal>& proposals) const;
  // Places in `proposals` of what a named step stands for; it may be added there.
  [[nodiscard]] std::vector<std::size_t> places_of(const NamedStep& named,
                                                   const ExpansionContext& context,
                                                   std::vector<StepProposal>& proposals) const;
  [[nodiscard]] bool is_done_or_taken_back(const NamedStep& named,
                                           const ExpansionContext& context) const;
  void keep_answer(const Candidate& candidate, Opinions opinions, const ExpansionContext& context,
                   std::vector<StepProposal>& proposals) const;

  const Assumptions& assume_;
  const StepGraph& graph_;
  const RequestMaker& requests_;
  ChatModel& model_;
  ExpansionTally& tally_;
  const ChooserConfig config_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, AnswerInAdvance> kept_;  // by candidate and proposal
};

// Whether the time is so close to the least possible one that no step can pay: from 10 % below it,
// where the floor itself would be wrong, to 3 % above it.
[[nodiscard]] bool is_at_floor(const Evaluation& evaluation);

// Whether a model need not be asked how to go on from a state: the step before brought less than
// 1 %, so there is nothing to say that was not asked for a step earlier, or another state is more
// than twice as fast.
[[nodiscard]] bool is_beside_the_point(const ExpansionContext& context);

// Whether another state is more than four times as fast, so that what was chosen at this one before
// that was known is not worth a request any more.
[[nodiscard]] bool is_left_behind(const ExpansionContext& context);

// Whether the model, not the rewriter, applies a proposal.
[[nodiscard]] bool is_by_model(const StepProposal& proposal);

}  // namespace regraph::llm
