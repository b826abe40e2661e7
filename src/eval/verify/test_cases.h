// What candidates are tested with: every test size with several distributions of inputs, as the
// manifest says, then variations, which nobody promised to stay away from.
//
//   the manifest's sizes x distributions (inputs.h)      must have a result
//   other values of scalars, other integers and
//   floating-point numbers, buffers that overlap         left out where the original has none
#pragma once

#include "eval/verify/inputs.h"
#include "eval/verify/sprinkle.h"
#include "kernel/problem.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace regraph::verify {

enum class CaseChoice : std::uint8_t {
  all,
  on_hardware,  // no numbers at the ends of their type, where special functions are not the
                // interpreter's
  as_given,     // no variations
};

struct TestCase {
  std::shared_ptr<const Problem> varied;  // null: the problem as it is
  Symbols symbols;
  Distribution distribution = Distribution::manifest;
  // How it departs from the manifest, besides the distribution: "a = -3.125", "'y' begins where 'x'
  // does". Empty: not at all.
  std::string variation;
  std::string varies = {};  // the argument whose value or contents are others; empty: none alone
  // Put among the inputs.
  std::vector<double> sprinkled = {};
  Sprinkling sprinkling = Sprinkling::values;
  bool must_run = true;           // false: left out where the original fails
  bool may_drop_size = false;     // the size was derived, and is left out where the original fails
  bool is_first = false;          // of its size
  bool is_beyond = false;         // a variation of any kind
  bool may_not_race = false;      // left out where the original's result depends on an order
  bool equates_integers = false;  // all of a buffer are the same: many terms of one sum, say
};

// The manifest's cases in the order in which candidates should meet them, small sizes first, then
// variations: of one thing at a time at small sizes (variation_sizes), and sizes drawn from `seed`.
// None of a problem that a program's launches or the user's files gave the data of.
[[nodiscard]] std::vector<TestCase> planned_cases(const Problem& problem, std::uint64_t seed);

// Whether the argument is a scalar that kernels must take other values of: no expression of sizes,
// and not fixed.
[[nodiscard]] bool may_vary(const Problem& problem, const Argument& argument);

// The smallest test size whose symbols are all above 1, else the largest; empty without tests.
[[nodiscard]] Symbols smallest_of_many(const Problem& problem);

// The sizes that variations run at. The first is smallest_of_many. A second is like it, but for
// kernels with vectors, which go another way there: its lengths are multiples of 16, or, where they
// all are so already or cannot be, one step (SizeRule::divisor) away. It keeps within what the
// manifest gives; where that leaves nothing to change, there is no second.
[[nodiscard]] std::vector<Symbols> variation_sizes(const Problem& problem);

// Which values of a size symbol kernels must expect besides those that the manifest gives.
struct SizeRule {
  std::int64_t least = 0;      // of those that tests and bench sizes give
  std::int64_t most = 0;       // the same
  std::int64_t divisor = 1;    // multiples of it: a power of two that divides all that are given
  bool powers_of_two = false;  // all that are given are, and no buffer's length depends on it
  bool is_fixed = false;       // the manifest says so
  bool is_length = false;      // of a buffer, or of a part of it

  [[nodiscard]] bool allows(std::int64_t value) const;
};
[[nodiscard]] SizeRule size_rule(const Problem& problem, const std::string& symbol);

// Work of a size, to put cheap ones first: the product of its symbols, and all elements.
[[nodiscard]] double volume(const Problem& problem, const Symbols& symbols);

// What the manifest, or the program that the problem is of, holds fixed in all cases: "w = 5, at
// all sizes", "a = 2.5, as the manifest says (assume.fixed)".
[[nodiscard]] std::vector<std::string> fixed_by_manifest(const Problem& problem);

}  // namespace regraph::verify
