// What the code of an element computes that its neighbours in a vector compute, too, and what it is
// known to make of its place in the vector.
//
//   word = packed[i / 8];  scale = scales[i / 128];       the same for eight neighbours
//   (word >> 4 * (i % 8)) & 15                            i % 8: 0, 1, 2, ... of a vector of eight
//
// Used by vectorize_global.
#pragma once

#include "rewrite/analysis/neighbour_values.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// An expression whose value is known from an element's number in its vector.
struct ElementDigit {
  ExprPtr value;
  NeighbourValues::Digit digit;
};

struct CommonValues {
  // Declarations in front of the guard and directly under it, in order.
  std::vector<const Declaration*> declarations;
  // Parts of other statements that are evaluated for every element, and follow it.
  std::vector<ExprPtr> expressions;
  std::vector<ElementDigit> digits;
  std::set<std::string> divisible;  // parameters that the width must divide, known ones among them
};

// Of a kernel whose threads are known by `element` alone, whose code is `branch`, the last
// statement, without loops. A vector of `width` begins where it divides `element`, which is not
// negative. `known`: parameters that the width divides anyway. Others are asked for where that
// saves reading memory.
struct CommonValuesQuestion {
  const Kernel& kernel;
  const Analysis& analysis;
  const std::string& element;
  const Branch& branch;
  int width;
  const std::set<std::string>& known;
};
[[nodiscard]] CommonValues find_common_values(const CommonValuesQuestion& question);

// Terms of the branch's condition that follow the element and are the same for all of a vector.
// Parameters that the width has to divide for that are added to `divisible`.
[[nodiscard]] std::vector<ExprPtr> common_guards(const CommonValuesQuestion& question,
                                                 std::set<std::string>& divisible);

}  // namespace regraph::rewrite
