// Whether what a thread touches in different iterations of a loop lies apart. Used by
// independent_iterations.
#pragma once

#include "affine/constraints.h"
#include "affine/ir.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "source/analysis.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::affine {

// About how large the polynomial is, with symbols that are no sizes as 1.
[[nodiscard]] double estimate(const Polynomial& polynomial, const Problem& problem);

// Indices are read as numbers of mixed radix, whose digits are the counters of loops: where a step
// of the loop's counter is more than all lower digits together come to, and each higher digit's
// more than all below it, equal numbers have equal digits. The kernel, its analysis and the problem
// must outlive this. Sizes of the problem are taken to be at least 1.
class IterationOverlap {
 public:
  IterationOverlap(const Kernel& kernel, const Analysis& analysis, const Launch& launch,
                   const Problem& problem);

  // The index as are_apart reads it: counters of loops whose bounds are not known (`i += stride`)
  // are symbols, too, and so are names of integers that are the same in all iterations, whatever
  // they are computed of (`slot / page`). Nothing where it is no polynomial.
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& index) const;

  // Whether the indices differ wherever one thread has different values of the loop's counter at
  // the two accesses, whatever those of other counters; builtins and parameters are the same.
  [[nodiscard]] bool are_apart(const Polynomial& a, const Polynomial& b,
                               const CountedLoop& loop) const;

 private:
  // How an index moves with a counter that begins at 0.
  struct Digit {
    Polynomial step;
    Polynomial most;  // with the counter at its last value
    bool is_of_loop = false;
    bool is_bounded = true;
  };
  // Whether the name has one value, which neither follows a loop nor is read from what is written.
  [[nodiscard]] bool is_same_for_all(const std::string& name) const;
  // The counter's digit; nothing where the indices move differently with it or unknown ways.
  [[nodiscard]] std::optional<Digit> unbounded_digit(const Polynomial& one,
                                                     const Polynomial& other) const;
  // The counters that the polynomial mentions, inner loops first.
  [[nodiscard]] std::vector<std::string> counters_of(const Polynomial& polynomial) const;
  // The polynomial with counters that begin at 0; nothing where bounds are no polynomials.
  [[nodiscard]] std::optional<Polynomial> from_zero(Polynomial polynomial) const;
  // The most that limit - 1 - first of a counter's loop comes to.
  [[nodiscard]] std::optional<Polynomial> width_of(const std::string& counter) const;
  // Between which bounds the product of a pitch with a counter from 0 to the width lies.
  struct Bounds {
    Polynomial low;
    Polynomial high;
  };
  [[nodiscard]] std::optional<Bounds> bounds_of(const Polynomial& pitch,
                                                const Polynomial& width) const;
  [[nodiscard]] bool has_no_counter(const Polynomial& polynomial) const;
  [[nodiscard]] bool is_nonnegative(const Polynomial& value) const;
  [[nodiscard]] bool is_less(const Polynomial& a, const Polynomial& b) const {
    return is_nonnegative(b - a - Polynomial(1));
  }
  const Analysis& analysis_;
  const Problem& problem_;
  std::map<std::string, int> depth_;  // counters in program order
  std::set<std::string> unbounded_;   // those of loops whose bounds are not known
  Constraints known_;
};

}  // namespace regraph::affine
