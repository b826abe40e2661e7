#include "capture/problem/match_expressions.h"

#include <algorithm>
#include <utility>

namespace regraph::capture {
namespace {

// A single launch: multiples beyond that are coincidences.
constexpr std::int64_t kLargestFactor = 16;
constexpr std::int64_t kDivisors[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
// Symbols of so few values are in too many products.
constexpr std::int64_t kTelling = 8;
constexpr std::size_t kFewForFour = 6;  // names of which products of four are tried

using Expression = IntegerExpression;

class Matcher {
 public:
  Matcher(std::span<const Symbols> launches, std::span<const std::int64_t> values)
      : launches_(launches), values_(values) {
    if (launches.empty()) return;
    for (const auto& [name, value] : launches.front())
      names_.push_back(name);
    differ_ = std::ranges::any_of(launches, [&](const Symbols& one) { return one != launches[0]; });
  }

  std::optional<Expression> length() {
    for (const Expression& one : products()) {
      if (holds(one)) return one;
    }
    for (const Expression& one : products()) {
      for (std::int64_t factor = 2; factor <= kLargestFactor; ++factor) {
        const Expression multiple = Expression::multiply(factor, one);
        if (holds(multiple)) return multiple;
      }
      for (const std::int64_t offset : {1, -1, 2, -2}) {
        const Expression sum = Expression::add(one, offset);
        if (holds(sum)) return sum;
      }
    }
    return line();
  }

  std::optional<Expression> quotient(const std::string& block_symbol, std::int64_t block_extent) {
    const bool divides = block_extent > 1;
    for (const Expression& one : products()) {
      if (!divides) break;
      const Expression blocks = Expression::ceil_divide(one, Expression::symbol(block_symbol));
      if (holds(blocks, block_symbol, block_extent)) return blocks;
    }
    if (auto plain = length()) return plain;
    for (const Expression& one : products()) {
      for (const std::int64_t divisor : kDivisors) {
        if (divides) {
          const Expression several = Expression::ceil_divide(
              one, Expression::multiply(divisor, Expression::symbol(block_symbol)));
          if (holds(several, block_symbol, block_extent)) return several;
        }
        const Expression part = Expression::ceil_divide(one, divisor);
        if (holds(part)) return part;
      }
    }
    return std::nullopt;
  }

 private:
  // Symbols, then products of two, then of three.
  const std::vector<Expression>& products() {
    if (!products_.empty() || names_.empty()) return products_;
    const auto symbol = [](const std::string& name) { return Expression::symbol(name); };
    for (const std::string& a : names_)
      products_.push_back(symbol(a));
    constexpr std::size_t kFew = 8;  // of many names some product always fits
    if (names_.size() > kFew) return products_;
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = a; b < names_.size(); ++b)
        products_.push_back(Expression::multiply(symbol(names_[a]), symbol(names_[b])));
    }
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = a; b < names_.size(); ++b) {
        for (std::size_t c = b; c < names_.size(); ++c) {
          products_.push_back(Expression::multiply(
              Expression::multiply(symbol(names_[a]), symbol(names_[b])), symbol(names_[c])));
        }
      }
    }
    // Of one launch alone something would always fit.
    if (differ_ && names_.size() <= kFewForFour) add_products_of_four();
    return products_;
  }

  void add_products_of_four() {
    const auto pair = [&](std::size_t a, std::size_t b) {
      return Expression::multiply(Expression::symbol(names_[a]), Expression::symbol(names_[b]));
    };
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = a; b < names_.size(); ++b) {
        for (std::size_t c = b; c < names_.size(); ++c) {
          for (std::size_t d = c; d < names_.size(); ++d)
            products_.push_back(Expression::multiply(pair(a, b), pair(c, d)));
        }
      }
    }
  }

  [[nodiscard]] bool holds(const Expression& expression, const std::string& block_symbol = "",
                           std::int64_t block_extent = 0) const {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      Symbols symbols = launches_[i];
      if (!block_symbol.empty()) symbols[block_symbol] = block_extent;
      const auto value = expression.evaluate(symbols);
      if (!value.ok() || *value != values_[i]) return false;
    }
    if (differ_) return true;
    // One launch, or several alike: every symbol of it has to be worth something.
    return std::ranges::all_of(expression.symbols(), [&](const std::string& name) {
      const auto found = launches_.front().find(name);
      return found == launches_.front().end() || found->second >= kTelling;
    });
  }

  // a * s + b through the launches, for one symbol.
  std::optional<Expression> line() const {
    if (!differ_) return std::nullopt;
    for (const std::string& name : names_) {
      const std::int64_t from = launches_[0].at(name);
      const auto other =
          std::ranges::find_if(launches_, [&](const Symbols& one) { return one.at(name) != from; });
      if (other == launches_.end()) continue;
      const std::int64_t run = other->at(name) - from;
      const std::int64_t rise =
          values_[static_cast<std::size_t>(other - launches_.begin())] - values_[0];
      if (rise == 0 || rise % run != 0) continue;
      const Expression slope = Expression::multiply(rise / run, Expression::symbol(name));
      const Expression fit = Expression::add(slope, values_[0] - rise / run * from);
      // Two launches are on a line anyway; one through 0, or of a small slope, is no accident.
      const bool through_zero = values_[0] == rise / run * from;
      const bool plausible =
          launches_.size() > 2 || through_zero || (rise / run > 0 && rise / run <= 64);
      if (plausible && holds(fit)) return fit;
    }
    return std::nullopt;
  }

  std::span<const Symbols> launches_;
  std::span<const std::int64_t> values_;
  std::vector<std::string> names_;
  std::vector<Expression> products_;
  bool differ_ = false;
};

}  // namespace

std::optional<IntegerExpression> match_length(std::span<const Symbols> launches,
                                              std::span<const std::int64_t> values) {
  return Matcher(launches, values).length();
}

std::optional<IntegerExpression> match_grid(std::span<const Symbols> launches,
                                            std::span<const std::int64_t> values,
                                            const std::string& block_symbol,
                                            std::int64_t block_extent) {
  return Matcher(launches, values).quotient(block_symbol, block_extent);
}

}  // namespace regraph::capture
