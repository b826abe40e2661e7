#include "rewrite/analysis/divisible_iterations.h"

#include "rewrite/analysis/guard_terms.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::BinaryOperator;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;
using source::Stmt;
using source::StmtPtr;

namespace {

// Products of residues stay far below 2^31.
constexpr std::int64_t kLargestDivisor = 1024;

std::int64_t residue(std::int64_t value, std::int64_t divisor) {
  return ((value % divisor) + divisor) % divisor;
}

// `value` times the result leaves 1; they have no common divisor.
std::int64_t inverse(std::int64_t value, std::int64_t divisor) {
  std::int64_t result = 1;
  while (residue(value * result, divisor) != 1)
    ++result;
  return result;
}

// What is compared with zero: number % divisor == 0.
struct Test {
  ExprPtr number;
  std::int64_t divisor = 0;
  const Expr* whole = nullptr;
};

std::optional<std::int64_t> literal(const ExprPtr& expr) {
  const auto* value = as<source::IntegerLiteral>(expr);
  return value != nullptr ? std::optional(value->value) : std::nullopt;
}

std::optional<Test> test_of(const ExprPtr& condition) {
  const auto* comparison = as<source::Binary>(condition);
  if (comparison == nullptr || comparison->op != BinaryOperator::equal) return std::nullopt;
  const bool turned = literal(comparison->left).has_value();
  const ExprPtr& zero = turned ? comparison->left : comparison->right;
  const auto* quotient = as<source::Binary>(turned ? comparison->right : comparison->left);
  if (literal(zero) != 0 || quotient == nullptr || quotient->op != BinaryOperator::remainder)
    return std::nullopt;
  const auto divisor = literal(quotient->right);
  if (!divisor || *divisor < 2 || *divisor > kLargestDivisor) return std::nullopt;
  const auto type = quotient->left->type;
  if (type != ScalarType::i32 && type != ScalarType::i64) return std::nullopt;
  return Test{quotient->left, *divisor, condition.get()};
}

// With integers put together.
ExprPtr folded(const ExprPtr& expr) {
  if (const auto* cast = as<source::Cast>(expr))
    return std::make_shared<source::Cast>(cast->target, folded(cast->operand), cast->type);
  const auto* binary = as<source::Binary>(expr);
  if (binary == nullptr) return expr;
  return source::binary(binary->op, folded(binary->left), folded(binary->right));
}

// One loop.
class Sieve {
 public:
  Sieve(const source::Analysis& analysis, const source::ForLoop& loop, source::CountedLoop counted)
      : analysis_(analysis),
        counted_(std::move(counted)),
        inside_(source::declared_names(loop.body)) {}

  // What becomes of the loop; nothing where some iteration does something else.
  std::optional<DivisibleLoop> of(const Block& body) {
    if (!is_idle_elsewhere(body) || tests_.empty()) return std::nullopt;
    return strided();
  }

 private:
  // Whether statements do nothing in iterations that fail a test.
  bool is_idle_elsewhere(const Block& block) {
    return std::ranges::all_of(block, [&](const StmtPtr& stmt) {
      if (const auto* declaration = as<source::Declaration>(stmt)) {
        return declaration->variable.storage == source::Storage::automatic &&
               (!declaration->value || is_harmless(declaration->value));
      }
      if (const auto* branch = as<source::Branch>(stmt)) {
        if (!branch->otherwise.empty() || !is_harmless_before_test(branch->condition)) return false;
        return has_test_ || is_idle_elsewhere(branch->body);
      }
      const auto* loop = as<source::ForLoop>(stmt);
      const auto counted = loop != nullptr ? source::counted_loop_of(*stmt) : std::nullopt;
      return counted && is_harmless(counted->first) && is_harmless(counted->limit) &&
             is_idle_elsewhere(loop->body);
    });
  }

  // Notes the condition's test in has_test_. What is asked for in front of it is not asked for in
  // iterations that are left out.
  bool is_harmless_before_test(const ExprPtr& condition) {
    has_test_ = false;
    for (const ExprPtr& term : source::conjuncts(condition)) {
      has_test_ = take(term);
      if (has_test_) return true;
      if (!is_harmless(term)) return false;
    }
    return true;
  }

  bool is_harmless(const ExprPtr& expr) const {
    bool harmless = true;
    source::walk(expr, [&](const Expr& part) {
      const auto* call = as<source::Call>(part);
      harmless = harmless && (call == nullptr || source::is_pure(*call));
    });
    return harmless;
  }

  // Whether the term is a test of the counter; of several all must let the same iterations through.
  bool take(const ExprPtr& term) {
    const auto test = test_of(term);
    if (!test) return false;
    const ExprPtr number = spelt_out(test->number);
    const auto whole = analysis_.polynomial(number);
    if (!whole) return false;
    const auto factor = whole->coefficient(counted_.name);
    const auto by = factor ? factor->constant() : std::nullopt;
    if (!by || *by == 0) return false;
    const auto names = source::variables_of(number);
    const bool changes =
        std::ranges::any_of(names, [&](const std::string& name) { return inside_.contains(name); });
    if (changes || may_have_wrapped(number) || analysis_.reads_memory(number)) return false;
    if (divisor_ != 0) {
      if (divisor_ != test->divisor || factor_ != *by || !(*whole - whole_).is_zero()) return false;
    }
    divisor_ = test->divisor;
    factor_ = *by;
    whole_ = *whole;
    number_ = number;
    tests_.insert(test->whole);
    return true;
  }

  // With what the loop's own values are.
  ExprPtr spelt_out(const ExprPtr& expr) const {
    return source::rewrite_expr(expr, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      const auto* variable = as<source::VariableReference>(part);
      if (variable == nullptr || !inside_.contains(variable->name)) return std::nullopt;
      const ExprPtr value = analysis_.definition(variable->name);
      const source::Variable* local = analysis_.local(variable->name);
      if (!value || local == nullptr || !local->scalar) return std::nullopt;
      return of_type(spelt_out(value), local->type, *local->scalar);
    });
  }

  // What is computed without signs is a number with one once it has a name.
  static ExprPtr of_type(const ExprPtr& value, const std::string& type, ScalarType scalar) {
    return value->type == scalar ? value : source::cast(type, value);
  }

  // Whether it may hold what fewer bits, or in 64 bits those of a number without a sign, wrapped
  // round to.
  static bool may_have_wrapped(const ExprPtr& number) {
    const bool wide = number->type != ScalarType::i32;
    bool wraps = false;
    source::walk(number, [&](const Expr& part) {
      const bool is_signed = part.type == ScalarType::i32 || part.type == ScalarType::i64;
      const bool is_narrow = part.type && size_in_bytes(*part.type) < sizeof(std::int32_t);
      wraps = wraps || is_narrow || (wide && !is_signed);
    });
    return wraps;
  }

  // start + t, t the smallest with (a + b * (start + t)) % m == 0 and t >= 0, where a common
  // divisor g of b and m also is one of a' = a + b * start: t = a' / g * c % (m / g), with c the
  // inverse of -b / g.
  DivisibleLoop strided() const {
    const std::int64_t common = std::gcd(factor_, divisor_);
    const std::int64_t stride = divisor_ / common;
    DivisibleLoop result{counted_, nullptr, counted_.first, stride, tests_};
    const ExprPtr start_value = of_type(counted_.first, "int", ScalarType::i32);
    ExprPtr at_start =
        folded(source::rewrite_expr(number_, source::replace_variable(counted_.name, start_value)));
    if (common > 1) {
      const ExprPtr rest = source::remainder(at_start, source::integer(common));
      result.condition = source::equals(rest, source::integer(0));
      at_start = source::divide(at_start, source::integer(common));
    }
    if (stride == 1) return result;
    const std::int64_t c = inverse(residue(-factor_ / common, stride), stride);
    const ExprPtr period = source::integer(stride);
    if (const auto known = literal(at_start)) {
      const std::int64_t taken = residue(*known, stride) * c % stride;
      result.first = source::add(counted_.first, source::integer(taken));
      return result;
    }
    ExprPtr steps = source::remainder(at_start, period);
    if (c != 1) steps = source::remainder(source::multiply(steps, source::integer(c)), period);
    const auto start = analysis_.polynomial(counted_.first);
    const Polynomial number = start ? whole_.substitute(counted_.name, *start) : whole_;
    if (!is_never_negative(number)) steps = source::remainder(source::add(steps, period), period);
    result.first = source::add(counted_.first, steps);
    return result;
  }

  const source::Analysis& analysis_;
  const source::CountedLoop counted_;
  const std::set<std::string> inside_;  // names
  bool has_test_ = false;
  std::int64_t divisor_ = 0;
  std::int64_t factor_ = 0;
  Polynomial whole_;
  ExprPtr number_;
  std::set<const Expr*> tests_;
};

}  // namespace

DivisibleIterations divisible_iterations(const source::Kernel& kernel,
                                         const source::Analysis& analysis) {
  DivisibleIterations result;
  source::walk(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<source::ForLoop>(stmt);
    if (loop == nullptr || loop->declaration() == nullptr) return;
    auto counted = source::counted_loop_of(stmt);
    if (!counted || counted->stride != 1) return;
    if (loop->declaration()->variable.scalar != ScalarType::i32) return;
    auto found = Sieve(analysis, *loop, std::move(*counted)).of(loop->body);
    if (found) result.emplace(&stmt, std::move(*found));
  });
  return result;
}

}  // namespace regraph::rewrite
