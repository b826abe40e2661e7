// What neighbouring elements that one thread handles have in common, and what lies side by side:
//
//   row = i / width, i % width        of a vector of W elements, where W divides width and its first
//   packed[i / 8]                     of a vector of 16: two neighbours, each of which eight share
//
// Used by vector_plan, common_values and vector_atomics.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

// What of an element's values its neighbours in a vector share, and which follow it by steps of 1.
class NeighbourValues {
 public:
  // All of it must outlive this.
  NeighbourValues(const Kernel& kernel, const Analysis& analysis, const std::string& element,
                  int width)
      : kernel_(kernel), analysis_(analysis), element_(element), width_(width) {}

  // Parameters that the width has to divide for what was said so far.
  [[nodiscard]] const std::set<std::string>& divisible() const { return divisible_; }
  // Forgets what was said with other parameters.
  void set_divisible(std::set<std::string> parameters);

  // Whether all elements of a vector have the same value, which only what nothing writes decides.
  // Parameters that would have to be divided are added where they all have, else none is.
  [[nodiscard]] bool is_common(const ExprPtr& expr);

  // The index as a polynomial of the element and of values that are common, which have names of
  // their own; nothing for others.
  [[nodiscard]] std::optional<Polynomial> place(const ExprPtr& expr);

  // The index as a polynomial of values that are common and of `part()`, which stands for
  // element / divisor: `divisor` divides the width. Nothing for others.
  [[nodiscard]] std::optional<Polynomial> place_of_parts(const ExprPtr& expr, std::int64_t divisor);
  [[nodiscard]] static Polynomial part();

  // What an element's number in its vector decides of a quotient or a remainder by a constant: the
  // value is `of_first`, the expression's value for the first element, plus a number.
  struct Digit {
    bool of_first = false;     // else zero
    bool is_quotient = false;  // number / divisor, else number % divisor
    std::int64_t divisor = 1;
    [[nodiscard]] std::int64_t at(int number) const {
      return is_quotient ? number / divisor : number % divisor;
    }
  };
  // Of i / 2, i % 8, i & 7, i >> 1 or i % width, i being the element or a multiple of the width
  // more; nothing for others, and where more parameters would have to be divided.
  [[nodiscard]] std::optional<Digit> digit(const ExprPtr& expr);

  // Whether the width divides the polynomial, given that it divides parameters.
  [[nodiscard]] bool is_divisible(const Polynomial& polynomial);

 private:
  // What is divided, and by what: of / and %, and of shifts and masks that are such.
  struct Division {
    ExprPtr dividend;
    Polynomial divisor;
    bool is_remainder = false;
  };
  [[nodiscard]] std::optional<Division> division(const ExprPtr& expr) const;

  bool is_common_value(const ExprPtr& expr);
  bool is_common_name(const std::string& name);

  // The element's number by any name.
  [[nodiscard]] bool is_element(const ExprPtr& expr) const;

  // What stands behind names and conversions that keep an index.
  [[nodiscard]] ExprPtr steady_value(const ExprPtr& expr) const;

  // Whether the value is the element or, where that is not negative either, a multiple of the width
  // more.
  bool counts_elements(const ExprPtr& expr);

  // What counts elements divided by d: the same for all of a vector where the width divides d.
  bool is_whole_quotient(const Division& division);

  // element % d = element - d * (element / d).
  std::optional<Polynomial> place_of_remainder(const ExprPtr& expr, const Division& division);
  // element / d where it is the part that was asked for.
  std::optional<Polynomial> place_of_quotient(const Division& division);

  Polynomial common_symbol(const ExprPtr& expr);

  Polynomial quotient_symbol(const Division& division) const;

  // With locals written out, so that values of one name are one value.
  [[nodiscard]] ExprPtr written_out(const ExprPtr& expr) const;

  [[nodiscard]] bool is_made_of_sizes(const Polynomial& polynomial) const;

  // Whether the polynomial, which knows the element by what it is made of, depends on it.
  [[nodiscard]] static bool depends(const Polynomial& polynomial);

  // No name of a kernel, nor of a quotient, begins so.
  static constexpr const char* kCommon = "common ";

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::string& element_;
  int width_;
  std::set<std::string> divisible_;
  std::int64_t part_divisor_ = 0;  // of the part that is asked for; 0: none
  std::map<std::string, bool> common_names_;
};

}  // namespace regraph::rewrite
