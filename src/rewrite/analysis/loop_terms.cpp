#include "rewrite/analysis/loop_terms.h"

#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/small_tables.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

using Terms = std::vector<Factors>;

bool has_single_precision(const ExprPtr& expr) {
  return expr->type == ScalarType::f32;
}

class LoopTermsFinder {
 public:
  explicit LoopTermsFinder(const Analysis& analysis) : analysis_(analysis) {}

  Result<LoopTerms> find(const ForLoop& loop) {
    if (Status status = go_over(loop.body); !status) return status.error();
    if (result_.sum.empty()) return refuse("the loop adds nothing to a sum");
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kMostTerms = 2048;
  static constexpr const char* kDoesMore = "the loop does more than to add to one sum";

  Status go_over(const Block& block) {
    for (const StmtPtr& stmt : block) {
      if (Status status = go_over(*stmt); !status) return status;
    }
    return {};
  }

  Status go_over(const Stmt& stmt) {
    if (const auto* declaration = as<Declaration>(stmt)) return declare(*declaration);
    if (const auto* assignment = as<Assignment>(stmt)) return assign(*assignment);
    if (const auto* inner = as<Scope>(stmt)) return go_over(inner->body);
    if (is<ForLoop>(stmt)) return repeat(stmt);
    return refuse(kDoesMore);
  }

  Status declare(const Declaration& declaration) {
    const Variable& variable = declaration.variable;
    if (!variable.extents.empty() || variable.is_pointer) return refuse(kDoesMore);
    own_.insert(variable.name);
    forget(variable.name);
    return declaration.value ? set(variable.name, variable.scalar, declaration.value) : Status();
  }

  void forget(const std::string& name) {
    values_.erase(name);
    partials_.erase(name);
  }

  // A partial sum begins with zero or with other ones.
  Status set(const std::string& name, const std::optional<ScalarType>& type, const ExprPtr& from) {
    const ExprPtr value = inlined(from);
    const bool is_sum = type == ScalarType::f32 && (is_zero(value) || mentions_partial(value));
    if (!is_sum) {
      if (mentions_partial(value)) return refuse("a partial sum is used otherwise than in a sum");
      forget(name);
      values_[name] = converted(value, type);
      return {};
    }
    Terms terms;
    if (!is_zero(value)) {
      if (Status status = add_terms(value, terms); !status) return status;
    }
    forget(name);
    partials_[name] = std::move(terms);
    return {};
  }

  Status assign(const Assignment& assignment) {
    const auto* target = as<VariableReference>(assignment.target);
    if (target == nullptr) return refuse(kDoesMore);
    const std::string& name = target->name;
    const auto added = added_term(assignment);
    const auto partial = partials_.find(name);
    if (partial != partials_.end() && added && !added->is_subtracted) {
      Terms terms = partial->second;
      ExprPtr term = inlined(added->term);
      if (!term->type) term = with_type(term, ScalarType::f32);
      Status status = add_terms(term, terms);
      if (status) partials_[name] = std::move(terms);
      return status;
    }
    if (!own_.contains(name)) return add_to_sum(name, added);
    if (partial != partials_.end() && assignment.op == AssignmentOperator::multiply) {
      const ExprPtr factor = inlined(assignment.value);
      if (mentions_partial(factor)) return refuse("partial sums are multiplied with each other");
      for (Factors& factors : partial->second)
        factors.push_back(factor);
      return {};
    }
    const Variable* variable = analysis_.local(name);
    if (variable == nullptr) return refuse(kDoesMore);
    if (assignment.op == AssignmentOperator::assign)
      return set(name, variable->scalar, assignment.value);
    const auto op = operation_of(assignment.op);
    if (!op || !values_.contains(name)) return refuse(kDoesMore);
    return set(
        name, variable->scalar,
        with_type(binary(*op, assignment.target, assignment.value), assignment.target->type));
  }

  static std::optional<BinaryOperator> operation_of(AssignmentOperator op) {
    switch (op) {
      case AssignmentOperator::add:
        return BinaryOperator::add;
      case AssignmentOperator::subtract:
        return BinaryOperator::subtract;
      case AssignmentOperator::multiply:
        return BinaryOperator::multiply;
      case AssignmentOperator::shift_right:
        return BinaryOperator::shift_right;
      case AssignmentOperator::bit_and:
        return BinaryOperator::bit_and;
      default:
        return std::nullopt;
    }
  }

  Status add_to_sum(const std::string& name, const std::optional<AddedTerm>& added) {
    const Variable* variable = analysis_.local(name);
    if (variable == nullptr || !variable->extents.empty() || !added || added->is_subtracted)
      return refuse(kDoesMore);
    if (variable->scalar != ScalarType::f32)
      return refuse("'" + name + "' is no sum of single precision");
    if (!result_.sum.empty() && result_.sum != name) return refuse(kDoesMore);
    result_.sum = name;
    ExprPtr term = inlined(added->term);
    if (!term->type) term = with_type(term, ScalarType::f32);  // of a fused multiply-add
    if (any_expression(term, [&](const Expr& node) { return is_named(node, name); }))
      return refuse("'" + name + "' is used before it is summed up");
    return add_terms(term, result_.terms);
  }

  Status repeat(const Stmt& stmt) {
    const auto counted = counted_loop_of(stmt);
    const auto first = counted ? constant(counted->first) : std::nullopt;
    const auto limit = counted ? constant(counted->limit) : std::nullopt;
    if (!first || !limit || counted->stride <= 0)
      return refuse("the loop has another one in it, whose length is not constant");
    for (std::int64_t at = *first; at < *limit; at += counted->stride) {
      values_[counted->name] = integer(at);
      if (Status status = go_over(body_of(stmt)); !status) return status;
      // Loops that add nothing would not come to an end soon.
      if (++rounds_ > kMostTerms) return refuse("the loop adds too many terms");
    }
    values_.erase(counted->name);
    return {};
  }

  std::optional<std::int64_t> constant(const ExprPtr& expr) const {
    return number_of_literals(inlined(expr));
  }

  // Over partial sums, which stand for what they are now.
  ExprPtr inlined(const ExprPtr& expr) const {
    std::set<std::string> kept;
    for (const auto& [name, terms] : partials_)
      kept.insert(name);
    return rewrite::inlined(expr, values_, kept, analysis_);
  }

  bool mentions_partial(const ExprPtr& expr) const {
    return any_expression(expr, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      return name != nullptr && partials_.contains(name->name);
    });
  }

  // The value's terms, with those of partial sums.
  Status add_terms(const ExprPtr& value, Terms& terms) const {
    if (const auto* sum = as_binary(value, BinaryOperator::add);
        sum != nullptr && has_single_precision(value)) {
      Status status = add_terms(sum->left, terms);
      return status ? add_terms(sum->right, terms) : status;
    }
    if (const Call* fused = as_multiply_add(value);
        fused != nullptr && has_single_precision(value)) {
      const ExprPtr product =
          with_type(multiply(fused->arguments[0], fused->arguments[1]), ScalarType::f32);
      Status status = add_terms(product, terms);
      return status ? add_terms(fused->arguments[2], terms) : status;
    }
    Factors factors;
    std::optional<Terms> partial;
    if (Status status = take_factors(value, factors, partial); !status) return status;
    const Terms one = {{}};
    for (const Factors& term : partial ? *partial : one) {
      Factors product = term;
      product.insert(product.end(), factors.begin(), factors.end());
      terms.push_back(std::move(product));
    }
    return terms.size() <= kMostTerms ? Status() : refuse("the loop adds too many terms");
  }

  // A number that something is added to is a factor as it is.
  static bool is_sum_of_products(const ExprPtr& value) {
    if (!has_single_precision(value)) return false;
    const auto* sum = as_binary(value, BinaryOperator::add);
    if (sum == nullptr) return as_multiply_add(value) != nullptr;
    const auto is_product = [](const ExprPtr& one) {
      return as_binary(one, BinaryOperator::multiply) != nullptr || is_sum_of_products(one);
    };
    return is_product(sum->left) || is_product(sum->right);
  }

  Status take_factors(const ExprPtr& value, Factors& factors, std::optional<Terms>& partial) const {
    if (const auto* product = as_binary(value, BinaryOperator::multiply);
        product != nullptr && has_single_precision(value)) {
      Status status = take_factors(product->left, factors, partial);
      return status ? take_factors(product->right, factors, partial) : status;
    }
    if (const auto* name = as<VariableReference>(value); name != nullptr) {
      if (const auto found = partials_.find(name->name); found != partials_.end()) {
        if (partial) return refuse("partial sums are multiplied with each other");
        partial = found->second;
        return {};
      }
    }
    if (is_sum_of_products(value)) {
      if (partial) return refuse("partial sums are multiplied with each other");
      partial.emplace();
      return add_terms(value, *partial);
    }
    if (mentions_partial(value)) return refuse("a partial sum is used otherwise than in a sum");
    factors.push_back(value);
    return {};
  }

  const Analysis& analysis_;
  LoopTerms result_;
  std::set<std::string> own_;  // names that the body declares
  ValuesByName values_;
  std::map<std::string, Terms> partials_;
  std::size_t rounds_ = 0;
};

}  // namespace

Result<LoopTerms> terms_of_loop(const ForLoop& loop, const Analysis& analysis) {
  return LoopTermsFinder(analysis).find(loop);
}

}  // namespace regraph::rewrite
