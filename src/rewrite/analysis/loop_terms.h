// What an iteration of a loop adds to one sum, as products, with loops of constant lengths inside
// gone over and partial sums multiplied out:
//
//   float part = 0.0f;
//   for (int j = 0; j < 2; ++j) part += a[2 * i + j] * b[j];     a[2 * i] * b[0] * scale,
//   sum += part * scale;                                          a[2 * i + 1] * b[1] * scale
//
// Used by quantized_product.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

using Factors = std::vector<ExprPtr>;

struct LoopTerms {
  std::string sum;             // a variable from outside the loop
  std::vector<Factors> terms;  // over the loop's counter, with values of the body's names
};

// Products are taken apart where they are of single precision. Error: refused, where the loop does
// anything else than to add to one sum of single precision, or adds too many terms.
[[nodiscard]] Result<LoopTerms> terms_of_loop(const ForLoop& loop, const Analysis& analysis);

}  // namespace regraph::rewrite
