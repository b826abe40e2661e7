// Which of two pairs of a value and a place stays, however that is written:
//
//   if (v > best || (v == best && i < place)) { best = v; place = i; }
//   pair = better(pair, other);   // records are variables, one for each field
//
// The code is followed through every order of the two values and of the two places. It may do
// nothing but compare and choose, so what it makes of these cases is all that it does. (Values that
// are no numbers have no order: which pair stays depends on how the code asks, as with `a > b ? a :
// b`.)
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

struct PairChoice {
  // What holds the pair so far, and what it is compared with. The two values are of one type, and
  // the two places.
  ExprPtr value;
  ExprPtr place;
  ExprPtr other_value;
  ExprPtr other_place;
  BinaryOperator relation = BinaryOperator::greater;  // or less: of values
  BinaryOperator tie = BinaryOperator::less;          // of the places of equal values: the
                                                      // smaller stays, or the larger
  std::set<std::string> temporaries;                  // declared there
};

// Of the statements [first, last) of `block`. Nothing where they do anything else.
[[nodiscard]] std::optional<PairChoice> match_pair_choice(const Block& block, std::size_t first,
                                                          std::size_t last,
                                                          const Analysis& analysis);

}  // namespace regraph::rewrite
