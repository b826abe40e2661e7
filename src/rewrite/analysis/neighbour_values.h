// What neighbouring elements that one thread handles have in common, and what lies side by side:
//
//   row = i / width, i % width        of a vector of W elements, where W divides width and its first
//
// Used by vectorize_global and vector_atomics.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

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
  void set_divisible(std::set<std::string> parameters) { divisible_ = std::move(parameters); }

  // Whether all elements of a vector have the same value, which only what nothing writes decides.
  [[nodiscard]] bool is_common(const ExprPtr& expr);

  // The index as a polynomial of the element and of values that are common, which have names of
  // their own; nothing for others.
  [[nodiscard]] std::optional<Polynomial> place(const ExprPtr& expr);

  // Whether the width divides the polynomial, given that it divides parameters.
  [[nodiscard]] bool is_divisible(const Polynomial& polynomial);

 private:
  bool is_common_name(const std::string& name);

  // The element's number by any name.
  [[nodiscard]] bool is_element(const ExprPtr& expr) const;

  // element / d or element >> s: the same for all of a vector where the width divides d, since
  // the element is not negative.
  bool is_whole_quotient(const Binary& expr);

  // element % d = element - d * (element / d).
  std::optional<Polynomial> place_of_remainder(const Binary& expr);

  Polynomial common_symbol(const ExprPtr& expr);

  static Polynomial quotient_symbol(const Polynomial& divisor);

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
  std::map<std::string, bool> common_names_;
};

}  // namespace regraph::rewrite
