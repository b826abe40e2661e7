// The loop over keys of a thread that computes a row of attention, and what it scores and weights.
// Used by attention_pattern.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct AttentionLoop {
  const Stmt* loop = nullptr;
  CountedLoop counted;
  std::vector<ExprPtr> row_guards;      // around it
  std::vector<ExprPtr> key_conditions;  // around what it does
  Block behind;                         // what is done with the sums

  std::vector<ExprPtr> elements;  // the two whose products are added up, without conversions
  std::string element_counter;
  std::int64_t element_count = 0;
  ExprPtr value;  // the element that is weighted
  std::string value_counter;

  ExprPtr score;  // over the name of the product
  std::string maximum;
  ExprPtr maximum_at_first;
  // The largest score is minus infinity at first and weights are not guarded against it.
  bool first_score_spoils = false;
  std::vector<Variable> sums;  // of the weights
  Variable mix;                // of the weighted values
};

// Whether the expression is -INFINITY.
[[nodiscard]] bool is_minus_infinity(const ExprPtr& expr);

// The kernel's online loop (online_updates.h), if it is such a one; `dot`: a new name for the
// product of two rows. Error: refused, with what is in the way.
[[nodiscard]] Result<AttentionLoop> find_attention_loop(const KernelForm& form,
                                                        const std::string& dot);

}  // namespace regraph::rewrite
