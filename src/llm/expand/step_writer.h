// Gets a kernel written: asks, reads the answer, has it judged, and sends it back while it fails.
#pragma once

#include "base/cancellation.h"
#include "candidate/candidate_reader.h"
#include "eval/evaluator.h"
#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "llm/expand/expansion_statistics.h"
#include "llm/expand/request_maker.h"
#include "regraph/expander.h"

#include <optional>
#include <string>

namespace regraph::llm {

struct WriterConfig {
  int repair_rounds = 1;        // corrections of an answer that fails, at most
  bool judge = false;           // ask a judge before a repair
  EvaluationBudget evaluation;  // of a candidate, as the search itself does it
};

// What is written, and what it is made of; the references must outlive the call.
struct WritingTask {
  const Candidate& parent;
  const ExpansionContext& context;
  const Step& step;
  ChatRequest request;  // the first
  // An answer to it that is there already; none: it is asked for.
  std::optional<ChatChoice> answer = {};
};

// Thread-safe.
class StepWriter {
 public:
  // The references must outlive this.
  StepWriter(const Problem& problem, const RequestMaker& requests, const CandidateReader& reader,
             ChatModel& model, Evaluator& evaluator, ExpansionTally& tally, WriterConfig config)
      : problem_(problem),
        requests_(requests),
        reader_(reader),
        model_(model),
        evaluator_(evaluator),
        tally_(tally),
        config_(config) {}

  // Errors: declined (the model says that the step does not apply, or changes nothing; the message
  // says why), refused (the answer cannot be used), io (no answer came), resource (the budget is
  // used up), cancelled. A candidate that is still wrong after the last repair is returned: its
  // verdict counts.
  [[nodiscard]] Result<Candidate> write(const WritingTask& task,
                                        const Cancellation& cancellation) const;

 private:
  struct Attempt;  // one answer and what became of it

  // `shown` is the candidate that the request is about: the parent, or the one to be repaired. An
  // answer without a launch keeps that of `shown`.
  [[nodiscard]] Attempt attempt(const ChatRequest& request, const Candidate& parent,
                                const Candidate& shown, const Cancellation& cancellation) const;
  [[nodiscard]] Attempt read(const ChatChoice& choice, const Candidate& parent,
                             const Candidate& shown, const Cancellation& cancellation) const;
  [[nodiscard]] ChatRequest repair_request(const WritingTask& task, const Attempt& failed,
                                           std::uint64_t salt,
                                           const Cancellation& cancellation) const;
  [[nodiscard]] Result<Candidate> conclude(Attempt last, const Cancellation& cancellation) const;

  const Problem& problem_;
  const RequestMaker& requests_;
  const CandidateReader& reader_;
  ChatModel& model_;
  Evaluator& evaluator_;
  ExpansionTally& tally_;
  const WriterConfig config_;
};

}  // namespace regraph::llm
