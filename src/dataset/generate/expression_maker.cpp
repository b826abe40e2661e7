#include "dataset/generate/expression_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph::dataset {

namespace {

// Products beyond these are not made.
constexpr double kLargestFloating = 4096.0;
constexpr double kLargestInteger = 1 << 24;
// Texts above this length are not written twice.
constexpr std::size_t kLongestRepeated = 18;

// The operand's text where an operator that binds like `around` is next to it.
std::string within(const Operand& operand, Binding around) {
  const bool bare = operand.binding >= around && !operand.text.starts_with("-");
  return bare ? operand.text : "(" + operand.text + ")";
}

// As the right operand of an operator that is not associative.
std::string right_of(const Operand& operand, Binding around) {
  const bool bare = operand.binding > around && !operand.text.starts_with("-");
  return bare ? operand.text : "(" + operand.text + ")";
}

// "f(f(...": nobody writes that.
bool doubled(std::string_view text) {
  const std::size_t end = text.find('(') + 1;
  return end > 1 && text.substr(end).starts_with(text.substr(0, end));
}

}  // namespace

double ExpressionMaker::constant(const std::string& site) const {
  if (element_ == Element::int32) return static_cast<double>(dice_.between(site, 2, 9));
  return dice_.one_of(site,
                      {0.1, 0.125, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.25, 1.5, 1.7, 2.0, 2.5, 3.0});
}

Operand ExpressionMaker::call(std::string_view function, const std::string& arguments,
                              double bound) const {
  return {function_name(element_, function) + "(" + arguments + ")", bound, Binding::primary};
}

Operand ExpressionMaker::product(const Operand& left, const Operand& right) const {
  return {within(left, Binding::product) + " * " + within(right, Binding::product),
          left.bound * right.bound, Binding::product};
}

std::string ExpressionMaker::magnitude_of(const Operand& value) const {
  const bool is_one = value.binding == Binding::primary &&
                      value.text.starts_with(function_name(element_, "fabs") + "(");
  return is_one ? value.text : call("fabs", value.text, 0.0).text;
}

Operand ExpressionMaker::floating_function(const std::string& site, const Operand& value) const {
  const auto literal = [&](double amount) { return number(element_, amount); };
  const std::string magnitude = magnitude_of(value);
  const double c = constant(site + " c");
  switch (dice_.below(site + " function", 9)) {
    case 0:
      return call("sqrt", magnitude + " + " + literal(c), std::sqrt(value.bound + c));
    case 1:
      return call("exp", "-" + magnitude, 1.0);
    case 2:
      return call("tanh", value.text, 1.0);
    case 3:
      return call("sin", value.text, 1.0);
    case 4:
      return call("cos", value.text, 1.0);
    case 5:
      return call("log", literal(1.0) + " + " + magnitude, std::log1p(value.bound));
    case 6:
      return {literal(1.0) + " / (" + literal(1.0) + " + " + magnitude + ")", 1.0,
              Binding::product};
    case 7:
      return call("rsqrt", literal(1.0) + " + " + magnitude, 1.0);
    default:
      return {within(value, Binding::product) + " / (" + literal(c) + " + " + magnitude + ")", 1.0,
              Binding::product};
  }
}

Operand ExpressionMaker::unary(const std::string& site, const Operand& value) const {
  if (element_ == Element::int32) return integer_unary(site, value);
  const double c = constant(site + " c");
  const std::string literal = number(element_, c);
  const bool brief = value.text.size() <= kLongestRepeated && value.binding == Binding::primary;
  switch (dice_.below(site + " unary", 10)) {
    case 0:
      return {literal + " * " + within(value, Binding::product), c * value.bound, Binding::product};
    case 1:
      return {within(value, Binding::sum) + " + " + literal, value.bound + c, Binding::sum};
    case 2:
      return {literal + " - " + right_of(value, Binding::sum), value.bound + c, Binding::sum};
    case 3:
      return call("fabs", value.text, value.bound);
    case 4:
      return call("fmax", value.text + ", " + number(element_, 0.0), value.bound);
    case 5:
      return call("fmin", value.text + ", " + literal, value.bound);
    case 6:
      if (brief && value.bound * value.bound <= kLargestFloating) return product(value, value);
      break;
    case 7:
      if (brief) {
        return {fmt::format("{0} > {1} ? {0} : {2} * {0}", value.text, number(element_, 0.0),
                            number(element_, dice_.one_of(site + " leak", {0.01, 0.1, 0.2, 0.3}))),
                value.bound, Binding::choice};
      }
      break;
    default:
      break;
  }
  return floating_function(site, value);
}

Operand ExpressionMaker::integer_unary(const std::string& site, const Operand& value) const {
  const double c = constant(site + " c");
  const std::string literal = number(element_, c);
  switch (dice_.below(site + " unary", 8)) {
    case 0:
      if (c * value.bound <= kLargestInteger)
        return {literal + " * " + within(value, Binding::product), c * value.bound,
                Binding::product};
      break;
    case 1:
      return {within(value, Binding::sum) + " + " + literal, value.bound + c, Binding::sum};
    case 2:
      return call("fabs", value.text, value.bound);
    case 3:
      return {right_of(value, Binding::product) + " >> 1", value.bound, Binding::shift};
    case 4:
      return {right_of(value, Binding::product) + " & " +
                  std::to_string(dice_.one_of(site + " mask", {15, 31, 63, 127, 255, 1023})),
              1023.0, Binding::bits};
    case 5:
      return {within(value, Binding::product) + " % " +
                  std::to_string(dice_.one_of(site + " modulus", {7, 11, 13, 17, 31, 97})),
              97.0, Binding::product};
    case 6:
      return call("fmax", value.text + ", " + literal, value.bound + c);
    default:
      break;
  }
  return {literal + " - " + right_of(value, Binding::sum), value.bound + c, Binding::sum};
}

Operand ExpressionMaker::binary(const std::string& site, const Operand& left,
                                const Operand& right) const {
  if (element_ == Element::int32) return integer_binary(site, left, right);
  const double c = constant(site + " c");
  const std::string literal = number(element_, c);
  switch (dice_.below(site + " binary", 9)) {
    case 0:
    case 1:
      break;
    case 2:
      return {within(left, Binding::sum) + " - " + right_of(right, Binding::sum),
              left.bound + right.bound, Binding::sum};
    case 3:
    case 4:
      if (left.bound * right.bound <= kLargestFloating) return product(left, right);
      break;
    case 5:
      return call(dice_.word(site + " extreme", {"fmax", "fmin"}), left.text + ", " + right.text,
                  std::max(left.bound, right.bound));
    case 6:
      return {
          within(left, Binding::sum) + " + " + literal + " * " + right_of(right, Binding::product),
          left.bound + c * right.bound, Binding::sum};
    case 7:
      return {
          literal + " * (" + within(left, Binding::sum) + " + " + within(right, Binding::sum) + ")",
          c * (left.bound + right.bound), Binding::product};
    default:
      return {within(left, Binding::product) + " / (" + number(element_, 1.0) + " + " +
                  magnitude_of(right) + ")",
              left.bound, Binding::product};
  }
  return {within(left, Binding::sum) + " + " + within(right, Binding::sum),
          left.bound + right.bound, Binding::sum};
}

Operand ExpressionMaker::integer_binary(const std::string& site, const Operand& left,
                                        const Operand& right) const {
  switch (dice_.below(site + " binary", 8)) {
    case 0:
      return {within(left, Binding::sum) + " - " + right_of(right, Binding::sum),
              left.bound + right.bound, Binding::sum};
    case 1:
    case 2:
      if (left.bound * right.bound <= kLargestInteger) return product(left, right);
      break;
    case 3: {
      const std::string sign = dice_.word(site + " bits", {" ^ ", " & ", " | "});
      return {right_of(left, Binding::product) + sign + right_of(right, Binding::product),
              2.0 * std::max(left.bound, right.bound), Binding::bits};
    }
    case 4:
      return call(dice_.word(site + " extreme", {"fmax", "fmin"}), left.text + ", " + right.text,
                  std::max(left.bound, right.bound));
    case 5: {
      const double c = constant(site + " c");
      return {within(left, Binding::sum) + " + " + number(element_, c) + " * " +
                  right_of(right, Binding::product),
              left.bound + c * right.bound, Binding::sum};
    }
    default:
      break;
  }
  return {within(left, Binding::sum) + " + " + within(right, Binding::sum),
          left.bound + right.bound, Binding::sum};
}

Operand ExpressionMaker::unary_unlike(const std::string& site, const Operand& value) const {
  constexpr int kTries = 4;
  Operand result = unary(site, value);
  for (int again = 1; again < kTries && doubled(result.text); ++again)
    result = unary(fmt::format("{} again {}", site, again), value);
  return result;
}

Operand ExpressionMaker::make(std::string_view site, std::vector<Operand> operands,
                              int operations) const {
  int draws = 0;
  const auto next = [&] { return fmt::format("{} {}", site, draws++); };
  while (operands.size() > 1 || operations > 0) {
    const std::string here = next();
    const bool join = operands.size() > 1 && (operations <= 0 || dice_.chance(here, 0.5));
    const std::size_t first = dice_.below(here + " first", operands.size());
    if (!join) {
      operands[first] = unary_unlike(here, operands[first]);
      --operations;
      continue;
    }
    const std::size_t second =
        (first + 1 + dice_.below(here + " second", operands.size() - 1)) % operands.size();
    operands[first] = binary(here, operands[first], operands[second]);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return std::move(operands.front());
}

}  // namespace regraph::dataset
