// What is asked of a scorer and what it says: plain data and its JSON, one line an item.
#pragma once

#include "base/result.h"
#include "kernel/evaluation.h"
#include "learn/reward.h"

#include <optional>
#include <string>
#include <string_view>

namespace regraph::score {

// An answer of a model, or of a person, to a registered state (state_registry.h).
struct ScoreItem {
  std::string id;          // the caller's own; comes back, counts for nothing
  std::string state;       // id of the state that was asked about
  std::string completion;  // the whole text of the answer, any bytes
  bool cut_off = false;    // it was ended by a limit of tokens, not by the model
  bool operator==(const ScoreItem&) const = default;
};

struct Score {
  std::string id;  // the item's
  learn::RewardFacts facts;
  Verdict verdict = Verdict::unsupported;  // the evaluator's, where it was asked
  std::string message;                     // why not correct, one or two sentences; or why no score
  // Both valid where correct; the parent's also where not.
  TimeEstimate time;
  TimeEstimate parent_time;
  // Whether the answer is, by machine code and launch, what the rewriter makes of the same step
  // with the parameters asked for; nothing where the step's values were left open or the rewriter
  // does not apply it.
  std::optional<bool> same_as_rewriter;
  std::string bottleneck;  // what limits the answer's time, in words
  double scoring_seconds = 0.0;
};

// {"id", "state", "completion", "cut_off"}; other keys are refused. Errors: parse.
[[nodiscard]] std::string item_text(const ScoreItem& item);
[[nodiscard]] Result<ScoreItem> read_item(std::string_view line);

// One line of JSON without the reward; read_score gives back an equal one. Errors: parse.
[[nodiscard]] std::string score_text(const Score& score);
[[nodiscard]] Result<Score> read_score(std::string_view line);

}  // namespace regraph::score
