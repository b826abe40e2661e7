#include "rewrite/analysis/block_digits.h"

#include "rewrite/analysis/block_geometry.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Builtin;
using source::Expr;
using source::ExprPtr;

std::string block_index(std::size_t axis) {
  return std::string("blockIdx.") + kAxes[axis];
}

std::string grid_extent(std::size_t axis) {
  return std::string("gridDim.") + kAxes[axis];
}

ExprPtr without_casts(ExprPtr expr) {
  while (const auto* cast = as<source::Cast>(expr)) {
    if (!cast->type || is_floating(*cast->type)) break;
    expr = cast->operand;
  }
  return expr;
}

bool is_builtin(const ExprPtr& expr, const std::string& name) {
  const auto* builtin = as<Builtin>(without_casts(expr));
  return builtin != nullptr && builtin->name == name;
}

bool are_equal(const ExprPtr& a, const ExprPtr& b, const Analysis& analysis) {
  const auto first = analysis.polynomial(a);
  const auto second = analysis.polynomial(b);
  if (first && second) return *first == *second;
  return source::print(without_casts(a)) == source::print(without_casts(b));
}

namespace {

class DigitUses {
 public:
  DigitUses(const Block& body, std::size_t axis, const Analysis& analysis)
      : analysis_(analysis), index_(block_index(axis)), extent_(grid_extent(axis)) {
    source::walk_expressions(body, [&](const Expr& expr) { note(expr); });
  }

  ExprPtr divisor() const {
    if (mentions_ != known_ || outer_.empty()) return nullptr;
    const ExprPtr& divisor = outer_.front();
    const auto is_divisor = [&](const ExprPtr& one) { return are_equal(one, divisor, analysis_); };
    const auto fits = [&](const Middle& one) {
      const auto whole = analysis_.polynomial(divisor);
      const auto below = analysis_.polynomial(one.divisor);
      const auto count = analysis_.polynomial(one.count);
      return whole && below && count && *below * *count == *whole;
    };
    const auto is_known = [&](const ExprPtr& one) {
      return is_divisor(one) ||
             std::any_of(middle_.begin(), middle_.end(), [&](const Middle& other) {
               return are_equal(one, other.divisor, analysis_);
             });
    };
    const bool is_apart = std::all_of(outer_.begin(), outer_.end(), is_divisor) &&
                          std::all_of(middle_.begin(), middle_.end(), fits) &&
                          std::all_of(inner_.begin(), inner_.end(), is_known);
    return is_apart ? divisor : nullptr;
  }

 private:
  // index / divisor % count
  struct Middle {
    ExprPtr divisor;
    ExprPtr count;
  };

  void note(const Expr& expr) {
    if (const auto* builtin = as<Builtin>(expr)) {
      mentions_ += builtin->name == index_ || builtin->name == extent_ ? 1 : 0;
      return;
    }
    const auto* binary = as<Binary>(expr);
    const bool is_quotient = binary != nullptr && binary->op == BinaryOperator::divide;
    if (!is_quotient && (binary == nullptr || binary->op != BinaryOperator::remainder)) return;
    const ExprPtr left = without_casts(binary->left);
    const auto* below = as<Binary>(left);
    const bool is_of_quotient = !is_quotient && below != nullptr &&
                                below->op == BinaryOperator::divide &&
                                is_builtin(below->left, index_);
    if (is_of_quotient) {
      in_middle_.insert(below);
      middle_.push_back({below->right, binary->right});
      ++known_;
    } else if (is_builtin(left, index_) && !in_middle_.contains(&expr)) {
      (is_quotient ? outer_ : inner_).push_back(binary->right);
      ++known_;
    } else if (is_builtin(left, extent_) && is_quotient) {
      outer_.push_back(binary->right);
      ++known_;
    }
  }

  const Analysis& analysis_;
  std::string index_;
  std::string extent_;
  std::size_t mentions_ = 0;
  std::size_t known_ = 0;
  std::vector<ExprPtr> outer_;
  std::vector<ExprPtr> inner_;
  std::vector<Middle> middle_;
  std::set<const Expr*> in_middle_;
};

}  // namespace

ExprPtr outer_divisor(const Block& body, std::size_t axis, const Analysis& analysis) {
  return DigitUses(body, axis, analysis).divisor();
}

}  // namespace regraph::rewrite
