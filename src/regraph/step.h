// An optimization step: a vertex of the ReGraph. Plain data.
#pragma once

#include "kernel/facts.h"
#include "kernel/problem.h"
#include "regraph/gain_statistics.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

enum class Comparison : std::uint8_t { less, less_equal, greater, greater_equal };

// Returns the operator's text, "<", "<=", ">" or ">=".
[[nodiscard]] const char* name(Comparison comparison);

// A checkable reason for a step: `fact` compared with `value`. Conditions of a step are weighed
// against each other by `weight` > 0, or 0 for one that is only required.
struct EvidenceCondition {
  std::string fact;  // from the vocabulary of kernel/facts.h
  Comparison comparison = Comparison::greater;
  double value = 0.0;
  double weight = 1.0;
  bool required = false;  // where it does not hold, the step has nothing to do

  // Returns whether `measured` satisfies the condition.
  [[nodiscard]] bool holds(double measured) const;
  bool operator==(const EvidenceCondition&) const = default;
};

struct Step {
  std::string id;                    // lower_case_with_underscores, unique
  std::string name;                  // one line for people
  std::vector<std::string> aliases;  // other names in papers and model answers
  std::string what;                  // what the step changes
  std::string legality;              // when the result is equivalent
  std::map<std::string, std::vector<std::string>> parameters;  // name -> allowed values
  std::vector<EvidenceCondition> evidence;
  std::string instruction;  // how to do it, addressed to a language model
  bool rewriter = false;    // the built-in rewriter implements it
  // What the user must have granted: names of Assumptions, e.g. "fast_math".
  std::vector<std::string> needs = {};
  // A language model named it and nobody has described it yet: name and instruction are its own.
  bool candidate = false;
  LearnedGains learned = {};  // whatever step came before

  // Whether `assume` grants all that the step needs.
  [[nodiscard]] bool granted(const Assumptions& assume) const;

  // Whether the step may have something to do: false when the fact of a required condition is known
  // and the condition does not hold.
  [[nodiscard]] bool possible(const Facts& facts) const;

  // Returns the share, 0 to 1, of the weighted conditions that `facts` satisfy, 0 where the step is
  // not possible. A condition on an absent fact counts as half fulfilled; a step without weighed
  // conditions scores 0.5.
  [[nodiscard]] double evidence_match(const Facts& facts) const;
  bool operator==(const Step&) const = default;
};

// Names that Step::needs may hold.
inline constexpr std::string_view kGrants[] = {"noalias", "reassociate", "fast_math",
                                               "lower_precision"};

// Returns `text` in lower case without anything but letters and digits, so that "Loop-Unrolling",
// "loop unrolling" and "loop_unrolling" are one name. Bytes beyond ASCII are kept.
[[nodiscard]] std::string normalised_name(std::string_view text);

}  // namespace regraph
