#include "rewrite/transform/common_fills.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "rewrite/forms/names.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// A digit of the thread's number in the block: number / weight % count.
struct Digit {
  std::string name;
  std::int64_t weight = 1;
  std::int64_t count = 1;
};

// Integers as polynomials over the digits of the thread's number, with quotients and remainders of
// it by the weights.
class ThreadDigits {
 public:
  struct Division {
    ExprPtr dividend;
    std::int64_t divisor = 1;
    bool is_remainder = false;
  };

  ThreadDigits(const Analysis& analysis, const Dim3& block)
      : analysis_(analysis), block_(block), weights_{1} {
    if (block.y > 1) weights_.insert(block.x);
  }

  // Takes the names of the digits once all weights are known; false where one weight does not
  // divide the next.
  bool fix(Names& names) {
    weights_.insert(total());
    for (auto at = weights_.begin(); std::next(at) != weights_.end(); ++at) {
      if (*std::next(at) % *at != 0) return false;
      digits_.push_back({names.unused("lane_" + std::to_string(*at)), *at, *std::next(at) / *at});
    }
    return true;
  }

  std::int64_t total() const { return std::int64_t{block_.x} * block_.y; }
  const std::vector<Digit>& digits() const { return digits_; }
  bool has_division() const { return has_division_; }

  bool is_digit(const std::string& name) const {
    return std::ranges::any_of(digits_, [&](const Digit& digit) { return digit.name == name; });
  }
  bool mentions(const Polynomial& value) const {
    return std::ranges::any_of(value.symbols(),
                               [&](const std::string& name) { return is_digit(name); });
  }

  // x / 8, x % 8, x >> 3, x & 7.
  std::optional<Division> division_of(const ExprPtr& expr) const {
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr) return std::nullopt;
    const bool is_quotient = binary->op == BinaryOperator::divide;
    const bool is_remainder = binary->op == BinaryOperator::remainder;
    const bool is_shift = binary->op == BinaryOperator::shift_right;
    const bool is_mask = binary->op == BinaryOperator::bit_and;
    if (!is_quotient && !is_remainder && !is_shift && !is_mask) return std::nullopt;
    auto divisor = number(binary->right);
    constexpr std::int64_t kMostShifted = 16;
    if (!divisor || *divisor < 0) return std::nullopt;
    if (is_shift) divisor = *divisor > kMostShifted ? 0 : std::int64_t{1} << *divisor;
    if (is_mask) divisor = (*divisor & (*divisor + 1)) == 0 ? *divisor + 1 : 0;
    if (*divisor < 1) return std::nullopt;
    return Division{binary->left, *divisor, is_remainder || is_mask};
  }

  // Whether it is the thread's number in the block, in a round of several.
  bool is_thread_number(const ExprPtr& expr) const {
    const auto polynomial = analysis_.polynomial(expr);
    if (!polynomial) return false;
    const Polynomial whole = with_block_extents(*polynomial, block_);
    Polynomial number = whole;
    for (const auto& [monomial, factor] : whole.terms()) {
      const bool counts_rounds = monomial.size() == 1 && factor > 0 && factor % total() == 0 &&
                                 rounds_of(monomial.front()).has_value();
      if (counts_rounds) number = number.without({monomial.front()});
    }
    const Polynomial rows = Polynomial::symbol("threadIdx.y") * Polynomial(block_.x);
    return number == (block_.y > 1 ? Polynomial::symbol("threadIdx.x") + rows
                                   : Polynomial::symbol("threadIdx.x"));
  }

  // Notes by what the expression takes the thread's number apart.
  void note(const ExprPtr& expr) {
    if (const auto division = division_of(expr)) {
      const auto weight = weight_of(division->dividend);
      if (weight && *weight * division->divisor < total() &&
          total() % (*weight * division->divisor) == 0) {
        weights_.insert(*weight * division->divisor);
        has_division_ = true;
      }
    }
    for_each_operand(*expr, [&](const ExprPtr& operand) { note(operand); });
    if (const ExprPtr value = value_of_name(expr)) note(value);
  }

  // The value over the digits; nothing where it is none.
  std::optional<Polynomial> value(const ExprPtr& expr) const {
    if (!is_index_type(expr->type)) return std::nullopt;
    if (const auto division = division_of(expr)) return divided(*division);
    if (const auto* literal = as<IntegerLiteral>(expr)) return Polynomial(literal->value);
    if (const auto* cast = as<Cast>(expr)) return value(cast->operand);
    if (const auto* builtin = as<Builtin>(expr)) return value_of_builtin(*builtin);
    if (const ExprPtr named = value_of_name(expr)) return value(named);
    if (is<VariableReference>(expr)) return analysis_.polynomial(expr);
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr) return std::nullopt;
    const auto left = value(binary->left);
    const auto right = left ? value(binary->right) : std::nullopt;
    if (!right) return std::nullopt;
    switch (binary->op) {
      case BinaryOperator::add:
        return *left + *right;
      case BinaryOperator::subtract:
        return *left - *right;
      case BinaryOperator::multiply:
        return *left * *right;
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<std::int64_t> number(const ExprPtr& expr) const {
    const auto polynomial = analysis_.polynomial(expr);
    return polynomial ? with_block_extents(*polynomial, block_).constant() : std::nullopt;
  }

  // What a name that depends on the thread stands for; null for others.
  ExprPtr value_of_name(const ExprPtr& expr) const {
    const auto* variable = as<VariableReference>(expr);
    if (variable == nullptr || analysis_.loop(variable->name) != nullptr) return nullptr;
    const ExprPtr definition = analysis_.definition(variable->name);
    return definition && !analysis_.reads_memory(definition) ? definition : nullptr;
  }

  // What one of the expression is of the thread's number: 8 of number / 8, and of x / 8 and x % 64.
  std::optional<std::int64_t> weight_of(const ExprPtr& expr) const {
    if (const auto* cast = as<Cast>(expr)) return weight_of(cast->operand);
    if (const auto division = division_of(expr)) {
      const auto weight = weight_of(division->dividend);
      if (!weight || division->is_remainder) return weight;
      return *weight * division->divisor;
    }
    if (is_thread_number(expr)) return 1;
    if (const auto* builtin = as<Builtin>(expr)) {
      if (builtin->name == "threadIdx.x") return 1;
      if (builtin->name == "threadIdx.y") return std::int64_t{block_.x};
    }
    if (const ExprPtr named = value_of_name(expr)) return weight_of(named);
    return std::nullopt;
  }

  // The digits from one weight up to another, as a number.
  Polynomial digits_between(std::int64_t from, std::int64_t to) const {
    Polynomial result;
    for (const Digit& digit : digits_) {
      if (digit.weight >= from && digit.weight < to)
        result = result + Polynomial(digit.weight / from) * Polynomial::symbol(digit.name);
    }
    return result;
  }

  std::optional<Polynomial> value_of_builtin(const Builtin& builtin) const {
    if (builtin.name == "threadIdx.x") return digits_between(1, block_.x);
    if (builtin.name == "threadIdx.y") return digits_between(block_.x, total());
    return with_block_extents(Polynomial::symbol(builtin.name), block_);
  }

  // The sum of digits, taken apart where the divisor is the weight of one of them.
  std::optional<Polynomial> divided(const Division& division) const {
    const auto dividend = value(division.dividend);
    if (!dividend) return std::nullopt;
    Polynomial quotient;
    Polynomial remainder;
    std::int64_t most = 0;  // of the remainder
    for (const auto& [monomial, factor] : dividend->terms()) {
      const auto count =
          monomial.size() == 1 ? count_of(monomial.front()) : std::optional<std::int64_t>(2);
      if (monomial.size() > 1 || factor < 1 || !count) return std::nullopt;
      const Polynomial term =
          monomial.empty() ? Polynomial(1) : Polynomial::symbol(monomial.front());
      if (factor % division.divisor == 0) {
        quotient = quotient + Polynomial(factor / division.divisor) * term;
        continue;
      }
      remainder = remainder + Polynomial(factor) * term;
      most += factor * (*count - 1);
    }
    if (most >= division.divisor) return std::nullopt;
    return division.is_remainder ? remainder : quotient;
  }

  // How many values a digit has, or the counter of a loop from zero.
  std::optional<std::int64_t> count_of(const std::string& name) const {
    const auto digit = std::ranges::find(digits_, name, &Digit::name);
    return digit != digits_.end() ? digit->count : rounds_of(name);
  }

  std::optional<std::int64_t> rounds_of(const std::string& name) const {
    const CountedLoop* loop = analysis_.loop(name);
    return loop != nullptr ? loop->trips_from_zero() : std::nullopt;
  }

  const Analysis& analysis_;
  const Dim3 block_;
  std::set<std::int64_t> weights_;
  std::vector<Digit> digits_;
  bool has_division_ = false;
};

// A statement for the thread with these digits.
class DigitNamer final : public Mutator {
 public:
  DigitNamer(const ThreadDigits& digits, const Analysis& analysis)
      : digits_(digits), analysis_(analysis) {}
  using Mutator::run;

  const std::set<std::string>& used() const { return used_; }
  bool failed() const { return failed_; }

 private:
  using Mutator::mutate;

  std::optional<ExprPtr> replaced(const ExprPtr& expr) {
    const auto value = digits_.value(expr);
    if (!value || !digits_.mentions(*value)) return std::nullopt;
    for (const std::string& symbol : value->symbols()) {
      if (digits_.is_digit(symbol)) used_.insert(symbol);
    }
    return in_type_of(*expr, to_expression(*value));
  }
  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Cast& cast) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, cast);
  }
  ExprPtr mutate(const ExprPtr& expr, const Builtin& builtin) override {
    const auto other = replaced(expr);
    failed_ = failed_ || (!other && builtin.name.starts_with("threadIdx."));
    return other.value_or(expr);
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    if (const auto other = replaced(expr)) return *other;
    // A name that may hide the thread's number, as one of a condition.
    const ExprPtr definition =
        analysis_.loop(variable.name) == nullptr ? analysis_.definition(variable.name) : nullptr;
    return definition && definition->type == expr->type ? run(definition) : expr;
  }

  const ThreadDigits& digits_;
  const Analysis& analysis_;
  std::set<std::string> used_;
  bool failed_ = false;
};

class FillSharer {
 public:
  FillSharer(const Kernel& kernel, const Dim3& block)
      : analysis_(kernel), block_(block), names_(kernel) {}

  Block share(const Block& block) {
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto* loop = as<ForLoop>(stmt);
      if (fills(stmt)) {
        result.push_back(shared(stmt));
      } else if (loop != nullptr) {
        auto copy = std::make_shared<ForLoop>(*loop);
        copy->body = share(loop->body);
        result.push_back(copy->body == loop->body ? stmt : std::move(copy));
      } else {
        result.push_back(stmt);
      }
    }
    return result;
  }

 private:
  // Stores to shared arrays, under conditions or in loops, and names for what they need.
  bool fills(const StmtPtr& stmt) const {
    if (const auto* branch = as<Branch>(stmt))
      return std::ranges::all_of(branch->body, [&](const StmtPtr& part) { return fills(part); }) &&
             std::ranges::all_of(branch->otherwise,
                                 [&](const StmtPtr& part) { return fills(part); });
    if (const auto* loop = as<ForLoop>(stmt))
      return source::strided_loop_of(*loop) &&
             std::ranges::all_of(loop->body, [&](const StmtPtr& part) {
               return is<Declaration>(part) || fills(part);
             });
    const auto* store = as<Assignment>(stmt);
    const auto* base = store != nullptr ? base_variable(*store->target) : nullptr;
    return base != nullptr && store->op == AssignmentOperator::assign &&
           analysis_.is_shared(base->name);
  }

  // for (i = tid; i < 512; i += 256)   ->   for (i = 0; i < 512; ++i)
  StmtPtr whole(const ForLoop& loop, const ThreadDigits& digits) const {
    const auto strided = source::strided_loop_of(loop);
    const auto step = strided ? analysis_.polynomial(strided->step) : std::nullopt;
    const bool is_whole = step && digits.is_thread_number(strided->first) &&
                          with_block_extents(*step, block_) == Polynomial(digits.total()) &&
                          !is_varying(strided->limit);
    if (!is_whole) return nullptr;
    auto copy = std::make_shared<ForLoop>(loop);
    const ExprPtr counter = source::variable(strided->counter.name, strided->counter.scalar);
    copy->init = declare(strided->counter, in_type_of(*counter, integer(0)));
    copy->condition = source::less(counter, strided->limit);
    copy->step = assign(counter, AssignmentOperator::add, integer(1));
    // Quotients of what is never negative.
    copy->body = rewrite_expressions(loop.body, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      const auto* binary = as<Binary>(part);
      if (binary == nullptr || !equal(binary->left, counter)) return std::nullopt;
      const auto division = digits.division_of(part);
      if (!division) return std::nullopt;
      return division->is_remainder ? remainder(counter, integer(division->divisor))
                                    : divide(counter, integer(division->divisor));
    });
    return copy;
  }

  // Whether the value may depend on the thread.
  bool is_varying(const ExprPtr& value) const {
    bool varies = false;
    walk(value, [&](const Expr& part) {
      const auto* builtin = as<Builtin>(part);
      varies = varies || (builtin != nullptr && builtin->name.starts_with("threadIdx."));
      const auto* name = as<VariableReference>(part);
      const bool is_array = name != nullptr && analysis_.is_shared(name->name);
      if (name == nullptr || is_array || analysis_.local(name->name) == nullptr) return;
      const ExprPtr definition = analysis_.definition(name->name);
      varies =
          varies || (definition ? is_varying(definition) : analysis_.loop(name->name) == nullptr);
    });
    return varies;
  }

  bool is_varying_in(const Block& body) const {
    return any_statement(body, [&](const Stmt& part) {
      bool varies = value_of(part) && is_varying(value_of(part));
      if (const ExprPtr& target = target_of(part)) varies = varies || is_varying(target);
      for_each_header(part, [&](const StmtPtr& header) {
        varies = varies || (value_of(*header) && is_varying(value_of(*header)));
      });
      return varies;
    });
  }

  StmtPtr shared(const StmtPtr& stmt) {
    ThreadDigits digits(analysis_, block_);
    walk_expressions({stmt}, [&](const Expr& expr) {
      digits.note(std::shared_ptr<const Expr>(std::shared_ptr<const Expr>(), &expr));
    });
    const auto* loop = as<ForLoop>(stmt);
    if (block_.z > 1) return stmt;
    if (loop != nullptr) {
      if (const StmtPtr all = whole(*loop, digits)) return is_varying_in(loop->body) ? stmt : all;
      const auto counted = counted_loop_of(*loop);
      if (!counted || is_varying(counted->first) || is_varying(counted->limit)) return stmt;
    }
    if (!digits.has_division() || !digits.fix(names_)) return stmt;
    DigitNamer namer(digits, analysis_);
    Block inner = loop != nullptr ? namer.run(loop->body) : namer.run(Block{stmt});
    if (namer.failed() || namer.used().empty()) return stmt;
    for (const Digit& digit : digits.digits()) {
      names_.take(digit.name);
      if (!namer.used().contains(digit.name) || digit.count == 1) continue;
      inner = {counted_loop(digit.name, integer(0), integer(digit.count), 1, std::move(inner))};
    }
    if (loop == nullptr) return inner.front();
    auto copy = std::make_shared<ForLoop>(*loop);
    copy->body = std::move(inner);
    return copy;
  }

  const Analysis analysis_;
  const Dim3 block_;
  Names names_;
};

}  // namespace

Block with_common_fills(const Kernel& kernel, const Dim3& block) {
  return FillSharer(kernel, block).share(kernel.body);
}

}  // namespace regraph::rewrite
