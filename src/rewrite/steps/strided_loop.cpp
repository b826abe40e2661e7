// strided_loop: a loop visits the iterations that a test for divisibility lets through, and no
// others.
//
//   for (k = 0; k < K; ++k) { int place = x + p - k; if (place % s == 0 && inside) work of place / s }
// becomes
//   for (k = (x + p) % s; k < K; k += s) { int place = x + p - k; if (inside) work of place / s }
//
// As in transposed convolutions with a stride, each of whose outputs takes every s-th tap; where
// the taps are dilated by as much, an output takes all of them or none. Legal
// where divisible_iterations.h finds such loops: the iterations that are left out do nothing, and
// those that stay come in the same order.
#include "affine/guard_terms.h"
#include "rewrite/forms/ir.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// Loops of which most iterations do nothing, since what they do is under a test for divisibility.
//
//
//   for (int k = 0; k < 5; ++k) { int place = x + 1 - k * 2; if (place % 3 == 0 && ...) sum += ...; }
//
// (a + b k) % m == 0 holds for every m-th k, from the first one on that solves it, where b and m
// have no common divisor; with the greatest common divisor g for every (m / g)-th where a % g == 0,
// and else for none.

struct DivisibleLoop {
  CountedLoop counted;          // as it is, by steps of one
  ExprPtr condition;            // for any iteration to pass; null: some do
  ExprPtr first;                // the first iteration that passes the tests, or beyond the last
  std::int64_t stride = 1;      // to the next one
  std::set<const Expr*> tests;  // in it, that hold in all iterations which are left
};

using DivisibleIterations = std::map<const Stmt*, DivisibleLoop>;

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
  const auto* value = as<IntegerLiteral>(expr);
  return value != nullptr ? std::optional(value->value) : std::nullopt;
}

std::optional<Test> test_of(const ExprPtr& condition) {
  const auto* comparison = as<Binary>(condition);
  if (comparison == nullptr || comparison->op != BinaryOperator::equal) return std::nullopt;
  const bool turned = literal(comparison->left).has_value();
  const ExprPtr& zero = turned ? comparison->left : comparison->right;
  const auto* quotient = as<Binary>(turned ? comparison->right : comparison->left);
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
  if (const auto* cast = as<Cast>(expr))
    return std::make_shared<Cast>(cast->target, folded(cast->operand), cast->type);
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr) return expr;
  return source::binary(binary->op, folded(binary->left), folded(binary->right));
}

// One loop.
class Sieve {
 public:
  Sieve(const Analysis& analysis, const ForLoop& loop, CountedLoop counted)
      : analysis_(analysis), counted_(std::move(counted)), inside_(declared_names(loop.body)) {}

  // What becomes of the loop; nothing where some iteration does something else.
  std::optional<DivisibleLoop> of(const Block& body) {
    if (!is_idle_elsewhere(body) || tests_.empty()) return std::nullopt;
    return strided();
  }

 private:
  // Whether statements do nothing in iterations that fail a test.
  bool is_idle_elsewhere(const Block& block) {
    return std::ranges::all_of(block, [&](const StmtPtr& stmt) {
      if (const auto* declaration = as<Declaration>(stmt)) {
        return declaration->variable.storage == Storage::automatic &&
               (!declaration->value || is_harmless(declaration->value));
      }
      if (const auto* branch = as<Branch>(stmt)) {
        if (!branch->otherwise.empty() || !is_harmless_before_test(branch->condition)) return false;
        return has_test_ || is_idle_elsewhere(branch->body);
      }
      const auto* loop = as<ForLoop>(stmt);
      const auto counted = loop != nullptr ? counted_loop_of(*stmt) : std::nullopt;
      return counted && is_harmless(counted->first) && is_harmless(counted->limit) &&
             is_idle_elsewhere(loop->body);
    });
  }

  // Notes the condition's test in has_test_. What is asked for in front of it is not asked for in
  // iterations that are left out.
  bool is_harmless_before_test(const ExprPtr& condition) {
    has_test_ = false;
    for (const ExprPtr& term : conjuncts(condition)) {
      has_test_ = take(term);
      if (has_test_) return true;
      if (!is_harmless(term)) return false;
    }
    return true;
  }

  bool is_harmless(const ExprPtr& expr) const {
    return all_expressions(expr, [&](const Expr& part) {
      const auto* call = as<Call>(part);
      return call == nullptr || is_pure(*call);
    });
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
    const auto names = variables_of(number);
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
    return rewrite_expr(expr, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(part);
      if (variable == nullptr || !inside_.contains(variable->name)) return std::nullopt;
      const ExprPtr value = analysis_.definition(variable->name);
      const Variable* local = analysis_.local(variable->name);
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
    return any_expression(number, [&](const Expr& part) {
      const bool is_signed = part.type == ScalarType::i32 || part.type == ScalarType::i64;
      const bool is_narrow = part.type && size_in_bytes(*part.type) < sizeof(std::int32_t);
      return is_narrow || (wide && !is_signed);
    });
  }

  // start + t, t the smallest with (a + b * (start + t)) % m == 0 and t >= 0, where a common
  // divisor g of b and m also is one of a' = a + b * start: t = a' / g * c % (m / g), with c the
  // inverse of -b / g.
  DivisibleLoop strided() const {
    const std::int64_t common = std::gcd(factor_, divisor_);
    const std::int64_t stride = divisor_ / common;
    DivisibleLoop result{counted_, nullptr, counted_.first, stride, tests_};
    const ExprPtr start_value = of_type(counted_.first, "int", ScalarType::i32);
    ExprPtr at_start = folded(rewrite_expr(number_, replace_variable(counted_.name, start_value)));
    if (common > 1) {
      const ExprPtr rest = source::remainder(at_start, integer(common));
      result.condition = equals(rest, integer(0));
      at_start = divide(at_start, integer(common));
    }
    if (stride == 1) return result;
    const std::int64_t c = inverse(residue(-factor_ / common, stride), stride);
    const ExprPtr period = integer(stride);
    if (const auto known = literal(at_start)) {
      const std::int64_t taken = residue(*known, stride) * c % stride;
      result.first = add(counted_.first, integer(taken));
      return result;
    }
    ExprPtr steps = source::remainder(at_start, period);
    if (c != 1) steps = source::remainder(multiply(steps, integer(c)), period);
    const auto start = analysis_.polynomial(counted_.first);
    const Polynomial number = start ? whole_.substitute(counted_.name, *start) : whole_;
    if (!is_never_negative(number)) steps = source::remainder(add(steps, period), period);
    result.first = add(counted_.first, steps);
    return result;
  }

  const Analysis& analysis_;
  const CountedLoop counted_;
  const std::set<std::string> inside_;  // names
  bool has_test_ = false;
  std::int64_t divisor_ = 0;
  std::int64_t factor_ = 0;
  Polynomial whole_;
  ExprPtr number_;
  std::set<const Expr*> tests_;
};

// All such loops of a kernel. Iterations that fail a test do nothing but give values to their own
// variables; what a test compares is made of values that do not change within the loop, and of its
// counter, in signed arithmetic.
DivisibleIterations divisible_iterations(const Kernel& kernel, const Analysis& analysis) {
  DivisibleIterations result;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    if (loop == nullptr || loop->declaration() == nullptr) return;
    auto counted = counted_loop_of(stmt);
    if (!counted || counted->stride != 1) return;
    if (loop->declaration()->variable.scalar != ScalarType::i32) return;
    auto found = Sieve(analysis, *loop, std::move(*counted)).of(loop->body);
    if (found) result.emplace(&stmt, std::move(*found));
  });
  return result;
}

class StridedLoop final : public PlacedStep<DivisibleIterations> {
 public:
  std::string_view id() const override { return "strided_loop"; }
  int position() const override { return 25; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override { return {.one_launch = false}; }
  Result<DivisibleIterations> find(const KernelAnalysis& kernel,
                                   const StepParameters&) const override {
    // Threads that were at one iteration together no longer are.
    if (kernel.analysis().uses_warp_intrinsics())
      return refuse("the threads of a warp work together");
    DivisibleIterations found = divisible_iterations(kernel.kernel(), kernel.analysis());
    if (found.empty()) {
      return refuse(
          "no loop does all it does under a test of its counter for divisibility by a constant");
    }
    return found;
  }

  KernelState rewrite(const KernelAnalysis& kernel,
                      const DivisibleIterations& found) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = sieved(kernel.kernel().body, found, {});
    return result;
  }

 private:
  // Tests that hold: of the loops around.
  using Tests = std::set<const Expr*>;

  static Block sieved(const Block& block, const DivisibleIterations& found, const Tests& tests) {
    return rewrite_statements(block, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (const auto* branch = as<Branch>(stmt)) return without_tests(*branch, stmt, found, tests);
      const auto loop = found.find(stmt.get());
      if (loop == found.end()) return std::nullopt;
      const DivisibleLoop& strided = loop->second;
      Tests inside = tests;
      inside.insert(strided.tests.begin(), strided.tests.end());
      StmtPtr left = counted_loop(strided.counted.name, strided.first, strided.counted.limit,
                                  strided.stride, sieved(to<ForLoop>(stmt).body, found, inside));
      if (strided.condition) left = source::branch(strided.condition, {std::move(left)});
      return Block{std::move(left)};
    });
  }

  static std::optional<Block> without_tests(const Branch& branch, const StmtPtr& stmt,
                                            const DivisibleIterations& found, const Tests& tests) {
    std::vector<ExprPtr> terms = conjuncts(branch.condition);
    const std::size_t before = terms.size();
    std::erase_if(terms, [&](const ExprPtr& term) { return tests.contains(term.get()); });
    if (terms.size() == before) return std::nullopt;
    Block body = sieved(branch.body, found, tests);
    if (terms.empty()) return Block{scope(std::move(body))};
    return Block{source::branch(conjunction(terms), std::move(body), {}, stmt->line)};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_strided_loop() {
  return std::make_unique<StridedLoop>();
}

}  // namespace regraph::rewrite
