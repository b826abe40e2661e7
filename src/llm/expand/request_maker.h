// Requests to a model: which prompt, with which values, and how it is to be sampled.
#pragma once

#include "kernel/problem.h"
#include "llm/chat/chat.h"
#include "llm/expand/shown_code.h"
#include "llm/prompt/prompt_library.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::llm {

// Temperatures by what is asked for; none: the server's own.
struct Temperatures {
  std::optional<double> choosing;
  std::optional<double> writing;
  std::optional<double> repairing;
  bool operator==(const Temperatures&) const = default;
};

struct RequestConfig {
  std::string model;  // name that the server knows
  Temperatures temperatures;
  std::uint64_t seed = 1;        // of the search; each request derives its own from it
  int max_tokens = 0;            // of an answer; 0: the server's own
  std::string reasoning_effort;  // "low", "high", ...; empty: the server's own
  int reasoning_tokens = 0;      // for thoughts, where a server can be told; 0: no limit
  int opinions = 1;              // answers to the question which steps to try
  bool leaps = true;             // plans of several steps may be named
  bool combinations = true;      // states to be combined may be named
};

// Makes equal requests of equal inputs. Immutable; thread-safe.
class RequestMaker {
 public:
  // The references must outlive this.
  RequestMaker(const Problem& problem, const StepGraph& graph, const PromptLibrary& prompts,
               const PromptDevice& device, RequestConfig config)
      : problem_(problem),
        graph_(graph),
        prompts_(prompts),
        device_(device),
        config_(std::move(config)) {}

  [[nodiscard]] const RequestConfig& config() const { return config_; }
  [[nodiscard]] const PromptLibrary& prompts() const { return prompts_; }
  // Whether plans and combinations may be named: they are wanted, and there are prompts for them.
  [[nodiscard]] bool offers_leaps() const {
    return config_.leaps && prompts_.has(PromptKind::leap);
  }
  [[nodiscard]] bool offers_combinations() const {
    return config_.combinations && prompts_.has(PromptKind::combine);
  }

  // To apply a proposal: a step of the graph, one that was made up, a leap or a combination. Error
  // (refused): none of these, or a combination whose other state `context` does not hold.
  [[nodiscard]] Result<ChatRequest> apply(const Candidate& candidate, const StepProposal& proposal,
                                          int variant, const ExpansionContext& context) const;
  // Which of `catalogue` to try; `kind` is propose or together.
  [[nodiscard]] ChatRequest propose(const Candidate& candidate, const ExpansionContext& context,
                                    const std::vector<const Step*>& catalogue,
                                    PromptKind kind = PromptKind::propose) const;
  [[nodiscard]] ChatRequest judge_optimisation(const Candidate& candidate,
                                               const ExpansionContext& context,
                                               const std::vector<const Step*>& catalogue) const;

  // A candidate that an answer led to and that fails.
  struct Failure {
    const Candidate& candidate;
    const Evaluation& evaluation;
    std::string answer;       // the answer's text
    bool was_edited = false;  // it held edits, so the kernel as a whole was never written
    std::string advice = {};  // a judge's
  };
  [[nodiscard]] ChatRequest judge_correction(const Failure& failure, const Candidate& parent,
                                             const ExpansionContext& context, const Step& step,
                                             std::uint64_t salt) const;
  // `asked` is what the answer was to.
  [[nodiscard]] ChatRequest repair(const ChatRequest& asked, const Failure& failure,
                                   const Candidate& parent, const ExpansionContext& context,
                                   const Step& step, std::uint64_t salt) const;
  // An answer that could not be read is sent back with the reason.
  [[nodiscard]] ChatRequest ask_again(const ChatRequest& asked, const std::string& answer,
                                      const std::string& reason, std::uint64_t salt) const;

  // The step that a proposal means: the graph's, or one made of its name and what is said of it.
  // Nothing for an unknown step without a name.
  [[nodiscard]] std::optional<Step> step_of(const StepProposal& proposal) const;

 private:
  [[nodiscard]] PromptState state_of(const Candidate& candidate, const Evaluation& evaluation,
                                     const ExpansionContext* context, const ShownCode& shown) const;
  [[nodiscard]] ChatRequest make(std::vector<ChatMessage> messages, std::uint64_t salt,
                                 PromptKind kind) const;
  [[nodiscard]] Step planned_step(const std::string& id, const ExpansionContext& context) const;

  const Problem& problem_;
  const StepGraph& graph_;
  const PromptLibrary& prompts_;
  const PromptDevice& device_;
  RequestConfig config_;
};

// The parameters of a proposal without those that say who applies it and what it stands for.
[[nodiscard]] StepParameters chosen_values(const StepProposal& proposal);

}  // namespace regraph::llm
