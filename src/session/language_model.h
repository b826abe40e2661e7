// From options to an expander that asks a language model.
#pragma once

#include "candidate/candidate_reader.h"
#include "eval/shared/shared_evaluator.h"
#include "fleet/queue/job_queue.h"
#include "llm/expand/language_model_expander.h"
#include "llm/prompt/prompt_library.h"
#include "llm/record/answer_store.h"
#include "llm/record/asked_once.h"
#include "llm/record/cassette.h"
#include "llm/record/ledger.h"
#include "llm/record/spending_log.h"
#include "report/model_use.h"
#include "session/language_model_options.h"
#include "session/opened_problem.h"

#include <cstdint>
#include <memory>
#include <string>

namespace regraph {

// Owns everything between the expander and the network:
//   expander -> each request once -> recorder -> budget and store -> client or fleet, or a recording
class LanguageModel {
 public:
  [[nodiscard]] const llm::LanguageModelExpander& expander() const { return *expander_; }
  // To be used by the search as well: it knows what the expander has evaluated.
  [[nodiscard]] Evaluator& evaluator() const { return *evaluator_; }
  [[nodiscard]] ModelUse use() const;
  // Whether requests were made and nobody ever answered.
  [[nodiscard]] bool never_answered() const;
  // Something that the user should know: a recording that could not be written.
  [[nodiscard]] std::string complaint() const;
  // Estimate of what `evaluations` candidates cost at most, in words.
  [[nodiscard]] std::string estimate(int evaluations, const llm::ChatRequest& apply,
                                     const llm::ChatRequest& propose) const;

 private:
  friend class LanguageModelBuilder;

  LanguageModelOptions options_;
  std::string from_;
  std::optional<llm::Price> price_;
  std::optional<llm::PromptLibrary> prompts_;
  llm::PromptDevice device_;
  std::unique_ptr<llm::AnswerStore> store_;
  std::unique_ptr<llm::ChatModel> server_;  // or a fleet that asks one
  std::unique_ptr<llm::CassettePlayer> player_;
  std::unique_ptr<llm::SpendingLog> spending_;
  std::unique_ptr<llm::BudgetedModel> budgeted_;
  std::unique_ptr<llm::CassetteRecorder> recorder_;
  std::unique_ptr<llm::AskedOnce> once_;
  std::unique_ptr<CandidateReader> reader_;
  std::unique_ptr<SharedEvaluator> evaluator_;
  std::unique_ptr<llm::LanguageModelExpander> expander_;
};

// What an expander of a session works with; everything must outlive it.
struct ExpanderPlace {
  const OpenedProblem& opened;
  const StepGraph& graph;
  Toolchain& toolchain;
  Evaluator& evaluator;
  const Installation& installation;
  std::uint64_t seed = 1;
  double evaluation_seconds = 180.0;  // one evaluation may take
  int jobs = 1;                       // evaluations at once
  fleet::JobQueue* fleet = nullptr;   // whose workers may ask a language model; null: there is none
};

// Reads key (OPENAI_API_KEY or a file), proxies (http_proxy, ...), prices, prompts and recording;
// connects to nothing yet. With `ask` false (a dry run) no server need be named and nothing is
// written. Errors: usage, internal, no_device.
[[nodiscard]] Result<std::unique_ptr<LanguageModel>, SessionError> set_up_language_model(
    const LanguageModelOptions& options, const ExpanderPlace& place, bool ask);

}  // namespace regraph
