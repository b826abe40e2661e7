// Values that loop bodies compute, compared across loops: what stands for them, whatever the names
// in between are. Used by online_loops.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <string>

namespace regraph::rewrite {

// An expression and the statements of a loop's body that it needs, with names put in for single
// values, and all that the body declares named by number.
struct LoopValue {
  Block statements;
  ExprPtr value;
  std::set<std::string> reads;  // names from outside of the body that it follows
  std::set<std::string> needs;  // names that the body declares and the statements give a value to
};

// The value of `expr` in front of statement `position` of the body of a loop that counts `counter`.
[[nodiscard]] LoopValue loop_value(const Block& body, std::size_t position, const ExprPtr& expr,
                                   const std::string& counter, const Analysis& analysis);

// Whether both say the same.
[[nodiscard]] bool equal(const LoopValue& a, const LoopValue& b);

// Whether two expressions have the same value where both are computed: written alike, indices as
// polynomials.
[[nodiscard]] bool is_same_value(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis);

}  // namespace regraph::rewrite
