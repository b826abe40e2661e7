// Which elements of buffers are neighbours, and which of them start a vector.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

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
  Polynomial rest;  // without a constant term
  std::int64_t offset = 0;
};

// The arguments must outlive it.
class NeighbourPlaces {
 public:
  NeighbourPlaces(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  // The place of an element of a parameter; nothing where its index is not understood. What is no
  // polynomial, such as a quotient, a clamped coordinate or a number that was read, stands for
  // itself; it has one value as long as the names that it is made of are declared.
  [[nodiscard]] std::optional<NeighbourPlace> place_of(const Subscript& access);

  // Whether `width` divides the polynomial where it divides some sizes: what the launch is given,
  // and what is computed from that alone.
  [[nodiscard]] bool can_divide(const Polynomial& rest, int width) const;
  // Conditions under which `width` divides all of the polynomials, each of which it can divide.
  [[nodiscard]] std::vector<ExprPtr> conditions(const std::vector<Polynomial>& all,
                                                int width) const;

  // The polynomial of an integer, in the symbols of places.
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& expr);

 private:
  [[nodiscard]] std::optional<Polynomial> meaning(const std::string& name);
  [[nodiscard]] ExprPtr with_symbols(const ExprPtr& expr);
  [[nodiscard]] std::optional<ExprPtr> spelt_out(const ExprPtr& expr) const;
  [[nodiscard]] ExprPtr size_of(const std::string& symbol) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::map<std::string, ExprPtr> sizes_;  // by symbol: what is made of parameters alone
  std::map<std::string, std::optional<Polynomial>> meanings_;
};

}  // namespace regraph::rewrite
