// Loops of which most iterations do nothing, since what they do is under a test for divisibility.
// Used by strided_loop.
//
//   for (int k = 0; k < 5; ++k) { int place = x + 1 - k * 2; if (place % 3 == 0 && ...) sum += ...; }
//
// (a + b k) % m == 0 holds for every m-th k, from the first one on that solves it, where b and m
// have no common divisor; with the greatest common divisor g for every (m / g)-th where a % g == 0,
// and else for none.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <map>
#include <set>
#include <vector>

namespace regraph::rewrite {

struct DivisibleLoop {
  source::CountedLoop counted;  // as it is, by steps of one
  source::ExprPtr condition;    // for any iteration to pass; null: some do
  source::ExprPtr first;        // the first iteration that passes the tests, or beyond the last
  std::int64_t stride = 1;      // to the next one
  std::set<const source::Expr*> tests;  // in it, that hold in all iterations which are left
};

using DivisibleIterations = std::map<const source::Stmt*, DivisibleLoop>;

// All such loops of a kernel. Iterations that fail a test do nothing but give values to their own
// variables; what a test compares is made of values that do not change within the loop, and of its
// counter, in signed arithmetic.
[[nodiscard]] DivisibleIterations divisible_iterations(const source::Kernel& kernel,
                                                       const source::Analysis& analysis);

}  // namespace regraph::rewrite
