// Which elements of buffers are neighbours, and which of them start a vector.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// An element: `offset` behind a place that several accesses share.
struct NeighbourPlace {
  std::string array;
  source::Polynomial rest;  // without a constant term
  std::int64_t offset = 0;
};

// The arguments must outlive it.
class NeighbourPlaces {
 public:
  NeighbourPlaces(const source::Kernel& kernel, const source::Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  // The place of an element of a parameter; nothing where its index is not understood. What is no
  // polynomial, such as a quotient, a clamped coordinate or a number that was read, stands for
  // itself; it has one value as long as the names that it is made of are declared.
  [[nodiscard]] std::optional<NeighbourPlace> place_of(const source::Subscript& access);

  // Whether `width` divides the polynomial where it divides some sizes: what the launch is given,
  // and what is computed from that alone.
  [[nodiscard]] bool can_divide(const source::Polynomial& rest, int width) const;
  // Conditions under which `width` divides all of the polynomials, each of which it can divide.
  [[nodiscard]] std::vector<source::ExprPtr> conditions(const std::vector<source::Polynomial>& all,
                                                        int width) const;

  // The polynomial of an integer, in the symbols of places.
  [[nodiscard]] std::optional<source::Polynomial> polynomial(const source::ExprPtr& expr);

 private:
  [[nodiscard]] std::optional<source::Polynomial> meaning(const std::string& name);
  [[nodiscard]] source::ExprPtr with_symbols(const source::ExprPtr& expr);
  [[nodiscard]] std::optional<source::ExprPtr> spelt_out(const source::ExprPtr& expr) const;
  [[nodiscard]] source::ExprPtr size_of(const std::string& symbol) const;

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  std::map<std::string, source::ExprPtr> sizes_;  // by symbol: what is made of parameters alone
  std::map<std::string, std::optional<source::Polynomial>> meanings_;
};

}  // namespace regraph::rewrite
