#include "rewrite/transform/loop_coalescing.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "affine/size_expression.h"
#include "kernel/problem.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/polynomial.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// How many things a number of strips was made for.

// All integers up to it have a single-precision number of their own.
constexpr std::int64_t kMostInSingle = std::int64_t{1} << 24;

// Behind names and casts.
ExprPtr bare(ExprPtr expr, const Analysis& analysis) {
  while (true) {
    const auto* variable = as<VariableReference>(expr);
    const auto* cast = as<Cast>(expr);
    const ExprPtr inner = variable != nullptr ? analysis.definition(variable->name)
                          : cast != nullptr   ? cast->operand
                                              : nullptr;
    if (!inner || analysis.loop(variable != nullptr ? variable->name : "") != nullptr) return expr;
    expr = inner;
  }
}

bool is_length(const ExprPtr& expr, std::int64_t length, const Analysis& analysis) {
  const ExprPtr number = bare(expr, analysis);
  if (const auto* literal = as<FloatingLiteral>(number))
    return std::strtod(literal->spelling.c_str(), nullptr) == static_cast<double>(length);
  const auto polynomial = analysis.polynomial(number);
  return polynomial && polynomial->constant() == length;
}

bool is_floating_type(const ScalarHint& type) {
  return type == ScalarType::f32 || type == ScalarType::f64;
}

bool fits_single(const Polynomial& value, const Problem& problem) {
  const auto size = size_of(value, problem);
  if (!size) return false;
  for (const Symbols& symbols : all_sizes(problem)) {
    const auto number = size->evaluate(symbols);
    if (!number || *number < 0 || *number > kMostInSingle) return false;
  }
  return true;
}

// n of a number of strips of `length` that is n / length, rounded up, for all n above zero, however
// that is written: (n + 15) / 16, (n - 1) / 16 + 1, ceil(n / 16.0f); k / 16 is that of k - 15.
// Nothing for other numbers. Single precision counts where it holds n at all sizes of the problem.
std::optional<Polynomial> strip_depth(const ExprPtr& strips, std::int64_t length,
                                      const Analysis& analysis, const Problem& problem) {
  const ExprPtr number = bare(strips, analysis);
  // Of the quotient in integers, which is rounded down.
  const auto dividend = [&](const ExprPtr& expr) -> std::optional<Polynomial> {
    const ExprPtr plain = bare(expr, analysis);
    const auto* division = as_binary(plain, BinaryOperator::divide);
    if (division == nullptr || is_floating_type(plain->type) ||
        !is_length(division->right, length, analysis)) {
      return std::nullopt;
    }
    return analysis.polynomial(division->left);
  };
  if (const auto value = dividend(number)) return *value - Polynomial(length - 1);
  if (const auto* sum = as_binary(number, BinaryOperator::add)) {
    for (const bool is_swapped : {false, true}) {
      const ExprPtr& one = is_swapped ? sum->left : sum->right;
      const auto value = dividend(is_swapped ? sum->right : sum->left);
      if (value && is_number(bare(one, analysis), 1)) return *value + Polynomial(1);
    }
  }
  const auto* call = as<Call>(number);
  if (call == nullptr || call->arguments.size() != 1 ||
      (call->function != "ceil" && call->function != "ceilf")) {
    return std::nullopt;
  }
  // A quotient of numbers that the type holds is rounded to no integer that it is not.
  const ExprPtr quotient = bare(call->arguments.front(), analysis);
  const auto* division = as_binary(quotient, BinaryOperator::divide);
  if (division == nullptr || !is_length(division->right, length, analysis)) return std::nullopt;
  auto value = analysis.polynomial(bare(division->left, analysis));
  if (!value) return std::nullopt;
  const bool is_double = quotient->type == ScalarType::f64 && call->function == "ceil";
  if (!is_double && !fits_single(*value, problem)) return std::nullopt;
  // Integers were divided before: that is k / 16 again.
  if (!is_floating_type(quotient->type)) return *value - Polynomial(length - 1);
  return value;
}

bool has_exit(const Block& body) {
  return any_statement(body, [&](const Stmt& stmt) {
    return is<Jump>(stmt) || is<Return>(stmt) || is<OpaqueStatement>(stmt) || is<Barrier>(stmt);
  });
}

// An outer and an inner loop that can be one.
struct Strips {
  CountedLoop outer;
  CountedLoop inner;
  std::int64_t length = 0;  // of the inner loop
};

// Code of the inner loop's body by one counter.
class OneCounter final : public Mutator {
 public:
  OneCounter(const Analysis& analysis, const Strips& strips, ExprPtr counter)
      : analysis_(analysis), strips_(strips), counter_(std::move(counter)) {}

  using Mutator::run;
  bool fails = false;  // a counter is used by itself

 private:
  using Mutator::mutate;

  // An integer in which both counters make one, nothing where they do not. What does not mention
  // them stays as it is written.
  std::optional<ExprPtr> merged(const ExprPtr& expr) const {
    const auto polynomial = analysis_.polynomial(expr);
    if (!polynomial) return std::nullopt;
    if (!mentions_counters(*polynomial)) return expr;
    if (const auto* cast = as<Cast>(expr)) {
      const auto operand = merged(cast->operand);
      // Of what is an int as an unsigned number, the int.
      const auto* inner = operand ? as<Cast>(*operand) : nullptr;
      if (inner != nullptr && inner->operand->type == expr->type &&
          inner->operand->type == ScalarType::i32 && inner->type == ScalarType::u32) {
        return inner->operand;
      }
      if (operand) return with_type(source::cast(cast->target, *operand), expr->type);
    }
    if (const auto* variable = as<VariableReference>(expr)) {
      const ExprPtr definition = analysis_.definition(variable->name);
      const bool is_named = definition && analysis_.loop(variable->name) == nullptr;
      if (is_named && merged(definition)) return expr;
    }
    if (const auto* product = as_binary(expr, BinaryOperator::multiply)) {
      const auto left = merged(product->left);
      const auto right = left ? merged(product->right) : std::nullopt;
      if (right) return with_type(source::multiply(*left, *right), expr->type);
    }
    if (as_binary(expr, BinaryOperator::add) != nullptr) return merged_sum(expr, *polynomial);
    return by_one_counter(*polynomial, *expr);
  }

  // a * n + t * 16 + k -> a * n + k
  std::optional<ExprPtr> merged_sum(const ExprPtr& expr, const Polynomial& whole) const {
    std::vector<ExprPtr> terms;
    add_terms(expr, terms);
    ExprPtr sum;
    Polynomial rest;
    const Expr* of_rest = nullptr;
    const auto take = [&](const ExprPtr& term) { sum = sum ? source::add(sum, term) : term; };
    for (const ExprPtr& term : terms) {
      // i / n * n + i % n is a polynomial, and neither of its terms is one.
      const auto polynomial = analysis_.polynomial(term);
      if (!polynomial) return by_one_counter(whole, *expr);
      if (const auto alone = merged(term)) {
        take(*alone);
      } else {
        rest = rest + *polynomial;
        of_rest = term.get();
      }
    }
    if (of_rest != nullptr) {
      const auto together = by_one_counter(rest, *expr);
      if (!together) return std::nullopt;
      take(*together);
    }
    return in_type_of_sum(sum, expr->type);
  }

  static void add_terms(const ExprPtr& expr, std::vector<ExprPtr>& terms) {
    const auto* sum = as_binary(expr, BinaryOperator::add);
    if (sum == nullptr) {
      terms.push_back(expr);
      return;
    }
    add_terms(sum->left, terms);
    add_terms(sum->right, terms);
  }

  static ExprPtr in_type_of_sum(const ExprPtr& sum, const ScalarHint& type) {
    if (sum->type == type || !type) return sum;
    return with_type(source::cast(std::string(cuda_name(*type)), sum), type);
  }

  std::optional<ExprPtr> by_one_counter(const Polynomial& polynomial, const Expr& typed) const {
    const std::string& outer = strips_.outer.name;
    const std::string& inner = strips_.inner.name;
    const auto of_outer = polynomial.coefficient(outer);
    const auto of_inner = polynomial.coefficient(inner);
    const bool is_one = of_outer && of_inner && !of_outer->mentions(inner) &&
                        *of_outer == *of_inner * Polynomial(strips_.length);
    if (!is_one) return std::nullopt;
    const std::string& name = to<VariableReference>(counter_).name;
    const Polynomial together =
        polynomial.substitute(outer, Polynomial()).substitute(inner, Polynomial::symbol(name));
    const bool is_bare = together == Polynomial::symbol(name);
    return in_type_of(typed, is_bare ? counter_ : to_expression(together));
  }

  bool mentions_counters(const Polynomial& polynomial) const {
    return polynomial.mentions(strips_.outer.name) || polynomial.mentions(strips_.inner.name);
  }

  // k < n - t * 16 -> k < n, of signed numbers; null for what is no such comparison.
  ExprPtr merged_order(const ExprPtr& expr, const Binary& binary) const {
    const auto is_signed = [](const ExprPtr& side) { return side->type == ScalarType::i32; };
    const BinaryOperator turned = mirrored(binary.op);
    if (turned == binary.op || !is_signed(binary.left) || !is_signed(binary.right)) return nullptr;
    if (merged(binary.left) && merged(binary.right)) return nullptr;
    const auto left = analysis_.polynomial(binary.left);
    const auto right = left ? analysis_.polynomial(binary.right) : std::nullopt;
    if (!right) return nullptr;
    const Polynomial rest = (*left - *right).without({strips_.outer.name, strips_.inner.name});
    Polynomial counted = *left - *right - rest;
    const auto factor = counted.coefficient(strips_.inner.name);
    const bool is_negative = factor && factor->constant().value_or(0) < 0;
    if (is_negative) counted = Polynomial() - counted;
    const auto together = by_one_counter(counted, *binary.left);
    if (!together) return nullptr;
    const ExprPtr limit = to_expression(is_negative ? rest : Polynomial() - rest);
    return with_type(source::binary(is_negative ? turned : binary.op, *together, limit),
                     expr->type);
  }

  // What is a polynomial as a whole stays one.
  std::optional<ExprPtr> replaced(const ExprPtr& expr) {
    if (!is_index_type(expr->type) || !analysis_.polynomial(expr)) return std::nullopt;
    const auto result = merged(expr);
    fails = fails || !result;
    return result ? result : expr;
  }

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    if (const auto other = replaced(expr)) return *other;
    fails = fails || variable.name == strips_.outer.name || variable.name == strips_.inner.name;
    return expr;
  }
  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    if (const auto other = replaced(expr)) return *other;
    const ExprPtr order = merged_order(expr, binary);
    return order ? order : Mutator::mutate(expr, binary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    ExprPtr inner = Mutator::mutate(expr, access);
    const auto& element = to<Subscript>(inner);
    const auto* cast = as<Cast>(element.index);
    if (cast == nullptr || cast->operand != counter_) return inner;
    // It is not negative, so that as an index it is itself.
    auto bare = std::make_shared<Subscript>(element);
    bare->index = counter_;
    return bare;
  }
  ExprPtr mutate(const ExprPtr& expr, const Unary& unary) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, unary);
  }
  ExprPtr mutate(const ExprPtr& expr, const Cast& cast) override {
    const auto other = replaced(expr);
    return other ? *other : Mutator::mutate(expr, cast);
  }

  const Analysis& analysis_;
  const Strips& strips_;
  const ExprPtr counter_;
};

class StripMerger final : public Mutator {
 public:
  StripMerger(const Kernel& kernel, const Dim3& block, const Problem& problem)
      : kernel_(kernel), analysis_(kernel), block_(block), problem_(problem) {
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* declaration = as<Declaration>(stmt))
        names_.push_back(declaration->variable.name);
    });
  }

  std::map<std::string, Polynomial> depths;

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const StmtPtr merged = merged_with_inner(loop);
    return merged ? merged : Mutator::mutate(stmt, loop);
  }

  // Null where the loop does more.
  StmtPtr merged_with_inner(const ForLoop& loop) {
    const auto outer = counted_loop_of(loop);
    if (!outer || outer->stride != 1 || !outer->starts_at_zero() || has_exit(loop.body) ||
        analysis_.loop(outer->name) == nullptr) {
      return nullptr;
    }
    Block declarations;
    std::vector<ExprPtr> guards;
    const ForLoop* inner = inner_of(loop.body, declarations, guards);
    const auto counted = inner != nullptr ? counted_loop_of(*inner) : std::nullopt;
    if (!counted || counted->stride != 1 || !counted->starts_at_zero() ||
        analysis_.loop(counted->name) == nullptr) {
      return nullptr;
    }
    const auto length = analysis_.polynomial(counted->limit);
    const auto number = length ? with_block_extents(*length, block_).constant() : std::nullopt;
    if (!number || *number < 1) return nullptr;
    const Strips strips{*outer, *counted, *number};
    const bool is_free = std::ranges::count(names_, counted->name) == 1;
    const std::string name = is_free ? counted->name : fresh_name(kernel_, counted->name);
    const ExprPtr counter = source::variable(name);
    OneCounter rewriter(analysis_, strips, counter);
    Block body = rewriter.run(inner->body);
    if (!guards.empty())
      body = {source::branch(rewriter.run(conjunction(guards)), std::move(body))};
    // Names of what indices are made of are not needed where these are written out.
    for (auto declared = declarations.rbegin(); declared != declarations.rend(); ++declared) {
      if (is_mentioned(body, to<Declaration>(*declared).variable.name))
        body.insert(body.begin(), rewriter.run(*declared));
    }
    if (rewriter.fails) return nullptr;
    names_.push_back(name);
    ExprPtr limit = source::multiply(outer->limit, integer(*number));
    if (const auto depth = strip_depth(outer->limit, *number, analysis_, problem_)) {
      depths.emplace(name, *depth);
      if (!is_index_type(outer->limit->type)) {
        // A number of strips that is computed otherwise is the same in integers.
        limit = source::multiply(
            source::divide(to_expression(*depth + Polynomial(*number - 1)), integer(*number)),
            integer(*number));
      }
    } else if (!is_index_type(outer->limit->type)) {
      return nullptr;
    }
    return source::loop(declare_integer(name, integer(0), false), source::less(counter, limit),
                        assign(counter, AssignmentOperator::add, integer(1)), std::move(body));
  }

  // The only loop of the block, under conditions that nothing in it changes; null where the block
  // does more than to declare integers in front of it.
  const ForLoop* inner_of(const Block& block, Block& declarations,
                          std::vector<ExprPtr>& guards) const {
    const ForLoop* found = nullptr;
    for (const StmtPtr& stmt : block) {
      if (found != nullptr) return nullptr;
      if (const auto* declaration = as<Declaration>(stmt)) {
        if (!declaration->value || !analysis_.definition(declaration->variable.name) ||
            analysis_.reads_memory(declaration->value) || !guards.empty()) {
          return nullptr;
        }
        declarations.push_back(stmt);
      } else if (const auto* scope = as<Scope>(stmt)) {
        found = inner_of(scope->body, declarations, guards);
        if (found == nullptr) return nullptr;
      } else if (const auto* branch = as<Branch>(stmt)) {
        if (!branch->otherwise.empty() || !is_steady_condition(branch->condition)) return nullptr;
        guards.push_back(branch->condition);
        found = inner_of(branch->body, declarations, guards);
        if (found == nullptr) return nullptr;
      } else {
        found = as<ForLoop>(stmt);
        if (found == nullptr) return nullptr;
      }
    }
    return found;
  }

  // Whether it may be asked in each iteration of the loop as well.
  bool is_steady_condition(const ExprPtr& condition) const {
    if (analysis_.reads_memory(condition)) return false;
    return std::ranges::all_of(variables_of(condition), [&](const std::string& name) {
      return analysis_.local(name) == nullptr || analysis_.is_single_definition(name) ||
             analysis_.loop(name) != nullptr;
    });
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  const Dim3& block_;
  const Problem& problem_;
  std::vector<std::string> names_;
};

}  // namespace

CoalescedLoops with_coalesced_loops(const Kernel& kernel, const Dim3& block,
                                    const Problem& problem) {
  StripMerger merger(kernel, block, problem);
  CoalescedLoops result;
  result.body = merger.run(kernel.body);
  result.depths = std::move(merger.depths);
  return result;
}

}  // namespace regraph::rewrite
