// Random expressions over given operands. Magnitudes are followed, so that results stay finite and
// comparable; nothing jumps, so that an operand's rounding never decides a result.
#pragma once

#include "dataset/generate/dice.h"
#include "dataset/generate/element.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::dataset {

// How tightly the text's outermost operator binds, loosest first.
enum class Binding : unsigned char { choice, bits, shift, sum, product, primary };

struct Operand {
  std::string text;
  double bound = 8.0;  // its magnitude for ordinary inputs
  Binding binding = Binding::primary;
};

class ExpressionMaker {
 public:
  ExpressionMaker(const Dice& dice, Element element) : dice_(dice), element_(element) {}

  // An expression that uses every operand (at least one) and has about `operations` operations more
  // than are needed to join them. `site` names it among the kernel's expressions.
  [[nodiscard]] Operand make(std::string_view site, std::vector<Operand> operands,
                             int operations) const;

 private:
  [[nodiscard]] Operand unary(const std::string& site, const Operand& value) const;
  // The same, no function of itself.
  [[nodiscard]] Operand unary_unlike(const std::string& site, const Operand& value) const;
  [[nodiscard]] Operand floating_function(const std::string& site, const Operand& value) const;
  [[nodiscard]] Operand integer_unary(const std::string& site, const Operand& value) const;
  [[nodiscard]] Operand binary(const std::string& site, const Operand& left,
                               const Operand& right) const;
  [[nodiscard]] Operand integer_binary(const std::string& site, const Operand& left,
                                       const Operand& right) const;
  [[nodiscard]] Operand product(const Operand& left, const Operand& right) const;
  [[nodiscard]] std::string magnitude_of(const Operand& value) const;
  // A positive constant, and one for int that is whole.
  [[nodiscard]] double constant(const std::string& site) const;
  [[nodiscard]] Operand call(std::string_view function, const std::string& arguments,
                             double bound) const;

  Dice dice_;
  Element element_;
};

}  // namespace regraph::dataset
