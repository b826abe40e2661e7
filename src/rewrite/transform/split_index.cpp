#include "rewrite/transform/split_index.h"

#include "affine/constraints.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "affine/size_expression.h"
#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/unused_integers.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

StmtPtr declare_index(const std::string& name, const std::string& axis) {
  return declare_integer(name, source::cast("int", global_index_code(axis)));
}

// Whether it is a number above one, or made of the kernel's parameters and names for sizes, and not
// of them with negative signs alone.
bool is_size(const Polynomial& value, const KernelForm& form) {
  const bool is_positive =
      std::ranges::any_of(value.terms(), [](const auto& term) { return term.second > 0; });
  if (!is_positive || value == Polynomial(1)) return false;
  const auto names = value.symbols();
  return std::all_of(names.begin(), names.end(), [&](const auto& name) {
    const KernelParameter* parameter = form.kernel.parameter(name);
    return parameter != nullptr ? !parameter->is_pointer : names_size(name, form.analysis);
  });
}

// Whether it holds any index: no number of the floating kind, and none that is cut.
bool is_wide_integer(const std::optional<ScalarType>& type) {
  return type && !is_floating(*type) && size_in_bytes(*type) >= size_in_bytes(ScalarType::i32);
}

// a of an expression that is index / a, rounded down; a may be one.
std::optional<Polynomial> quotient_of_index(const ExprPtr& expr, const KernelForm& form,
                                            const Polynomial& index) {
  if (!is_wide_integer(expr->type)) return std::nullopt;
  if (form.analysis.polynomial(expr) == index) return Polynomial(1);
  if (const auto* variable = as<VariableReference>(expr)) {
    const ExprPtr definition = form.analysis.definition(variable->name);
    return definition ? quotient_of_index(definition, form, index) : std::nullopt;
  }
  if (const auto* cast = as<Cast>(expr)) {
    return quotient_of_index(cast->operand, form, index);
  }
  const auto* binary = as_binary(expr, BinaryOperator::divide);
  if (binary == nullptr) return std::nullopt;
  const auto before = quotient_of_index(binary->left, form, index);
  const auto divisor = before ? form.analysis.polynomial(binary->right) : std::nullopt;
  if (!divisor || !is_size(*divisor, form)) return std::nullopt;
  return *before * *divisor;
}

// index / before / divisor, or the remainder of index / before by the divisor.
struct Division {
  BinaryOperator op = BinaryOperator::divide;
  Polynomial before;
  Polynomial divisor;
};

std::optional<Division> division_of_index(const Expr& expr, const KernelForm& form,
                                          const Polynomial& index);

// A remainder of the index, behind names and conversions.
std::optional<Division> remainder_of_index(const ExprPtr& expr, const KernelForm& form,
                                           const Polynomial& index) {
  if (!is_wide_integer(expr->type)) return std::nullopt;
  if (const auto* variable = as<VariableReference>(expr)) {
    const ExprPtr definition = form.analysis.definition(variable->name);
    return definition ? remainder_of_index(definition, form, index) : std::nullopt;
  }
  if (const auto* cast = as<Cast>(expr)) return remainder_of_index(cast->operand, form, index);
  auto division = division_of_index(*expr, form, index);
  return division && division->op == BinaryOperator::remainder ? division : std::nullopt;
}

std::optional<Division> division_of_index(const Expr& expr, const KernelForm& form,
                                          const Polynomial& index) {
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr ||
      (binary->op != BinaryOperator::divide && binary->op != BinaryOperator::remainder)) {
    return std::nullopt;
  }
  if (!is_wide_integer(expr.type)) return std::nullopt;
  auto divisor = form.analysis.polynomial(binary->right);
  if (!divisor || !is_size(*divisor, form)) return std::nullopt;
  if (auto before = quotient_of_index(binary->left, form, index))
    return Division{binary->op, std::move(*before), std::move(*divisor)};
  // i % (m * n) / n is i / n % m, and i % (m * n) % n is i % n.
  const auto rest = remainder_of_index(binary->left, form, index);
  const auto times = rest ? exact_quotient(rest->divisor, *divisor) : std::nullopt;
  if (!times || *times == Polynomial(1)) return std::nullopt;
  if (binary->op == BinaryOperator::divide)
    return Division{BinaryOperator::remainder, rest->before * *divisor, *times};
  return Division{BinaryOperator::remainder, rest->before, std::move(*divisor)};
}

class IndexSplitter {
 public:
  IndexSplitter(const KernelForm& form, std::string from, std::string to, const Polynomial& divisor,
                const Problem& problem)
      : form_(form),
        from_(std::move(from)),
        to_(std::move(to)),
        divisor_(divisor),
        problem_(problem),
        index_(global_index(from_)) {
    Names names(form.kernel);
    inner_ = names.fresh(from_ == "x" ? "column" : "row");
    outer_ = names.fresh(to_ == "y" ? "row" : "plane");
  }

  Block run() const {
    Kernel split = form_.kernel;
    // i % n < n would ask for both parts.
    Block before = without_dead_guards(form_.kernel);
    split.body = sizes_taken_from(before);
    split.body.push_back(declare_index(inner_, from_));
    split.body.push_back(declare_index(outer_, to_));
    const Block body =
        rewrite_expressions(before, [&](const ExprPtr& expr) { return with_parts(expr); });
    const ExprPtr guard = less(source::variable(inner_), to_expression(divisor_));
    for (StmtPtr& stmt : under(guard, body))
      split.body.push_back(std::move(stmt));
    split.body = with_plain_values(split);
    split.body = with_whole_indices(split);
    return without_unused_integers(std::move(split.body));
  }

 private:
  // Names for sizes that the body begins with, which move in front of the parts: those ask for
  // them.
  Block sizes_taken_from(Block& body) const {
    Block sizes;
    Block rest;
    std::set<std::string> known;
    for (const KernelParameter& parameter : form_.kernel.parameters) {
      if (!parameter.is_pointer) known.insert(parameter.name);
    }
    for (std::size_t at = 0; at < body.size(); ++at) {
      const auto* declaration = as<Declaration>(*body[at]);
      if (!is_integer(*body[at])) {
        rest.insert(rest.end(), body.begin() + static_cast<long>(at), body.end());
        break;
      }
      const auto names = variables_of(declaration->value);
      const bool is_size = names_size(declaration->variable.name, form_.analysis) &&
                           std::includes(known.begin(), known.end(), names.begin(), names.end());
      if (is_size) known.insert(declaration->variable.name);
      (is_size ? sizes : rest).push_back(body[at]);
    }
    body = std::move(rest);
    return sizes;
  }

  // With the guard around what does something.
  static Block under(const ExprPtr& guard, const Block& body) {
    Block result;
    std::size_t next = 0;
    while (next < body.size() && is_integer(*body[next]))
      result.push_back(body[next++]);
    const auto* branch = next + 1 == body.size() ? as<Branch>(*body[next]) : nullptr;
    if (branch != nullptr && branch->otherwise.empty()) {
      result.push_back(
          source::branch(both(guard, branch->condition), branch->body, {}, branch->line));
    } else {
      result.push_back(
          source::branch(guard, Block(body.begin() + static_cast<long>(next), body.end())));
    }
    return result;
  }

  static bool is_integer(const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->value && is_of_integers(declaration->value);
  }

  std::optional<ExprPtr> with_parts(const ExprPtr& expr) const {
    if (auto guard = with_outer_limit(expr)) return guard;
    if (auto part = part_of_division(expr)) return part;
    return with_index(expr, from_, index_, whole(), form_.analysis);
  }

  // `index < divisor * n` as `outer < n`.
  std::optional<ExprPtr> with_outer_limit(const ExprPtr& expr) const {
    const auto slack = slack_of(expr, form_.analysis);
    if (!slack) return std::nullopt;
    const Polynomial limit = *slack + index_ + Polynomial(1);
    if (!is_size(limit, form_)) return std::nullopt;
    const auto rows = exact_quotient(limit, divisor_);
    if (!rows || !fits_32_bits(*rows, problem_, form_.analysis)) return std::nullopt;
    return less(source::variable(outer_), to_expression(*rows));
  }

  std::optional<ExprPtr> part_of_division(const ExprPtr& expr) const {
    const auto division = division_of_index(*expr, form_, index_);
    if (!division) return std::nullopt;
    const ExprPtr value = division->op == BinaryOperator::divide
                              ? quotient(division->before * division->divisor)
                              : rest(division->before, division->divisor);
    return value ? std::optional(in_type_of(*expr, value)) : std::nullopt;
  }

  // index / number; null where the parts do not tell.
  ExprPtr quotient(const Polynomial& number) const {
    const ExprPtr outer = source::variable(outer_);
    const ExprPtr inner = source::variable(inner_);
    if (const auto groups = exact_quotient(number, divisor_)) return divided(outer, *groups);
    const auto pieces = exact_quotient(divisor_, number);
    if (!pieces) return nullptr;
    return joined(outer, *pieces, divided(inner, number));
  }

  // index / before % number; null where the parts do not tell.
  ExprPtr rest(const Polynomial& before, const Polynomial& number) const {
    const ExprPtr outer = source::variable(outer_);
    const ExprPtr inner = source::variable(inner_);
    if (const auto groups = exact_quotient(before, divisor_))
      return source::remainder(divided(outer, *groups), to_expression(number));
    const Polynomial reach = before * number;
    ExprPtr piece = divided(inner, before);
    if (const auto pieces = exact_quotient(divisor_, reach)) {
      if (*pieces == Polynomial(1)) return piece;
      return source::remainder(piece, to_expression(number));
    }
    const auto pieces = exact_quotient(divisor_, before);
    const auto groups = exact_quotient(reach, divisor_);
    if (!pieces || !groups) return nullptr;
    return joined(source::remainder(outer, to_expression(*groups)), *pieces, piece);
  }

  static ExprPtr divided(const ExprPtr& value, const Polynomial& by) {
    return by == Polynomial(1) ? value : source::divide(value, to_expression(by));
  }

  ExprPtr whole() const {
    return joined(source::variable(outer_), divisor_, source::variable(inner_));
  }

  static ExprPtr joined(const ExprPtr& outer, const Polynomial& pitch, const ExprPtr& inner) {
    return add(multiply(outer, to_expression(pitch)), inner);
  }

  // `v - v / n * n` is the inner part.
  Block with_plain_values(const Kernel& kernel) const {
    const Analysis analysis(kernel);
    return rewrite_statements(kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || declaration->variable.scalar != ScalarType::i32 ||
          declaration->variable.name == inner_ || declaration->variable.name == outer_ ||
          !declaration->value || !is_of_integers(declaration->value)) {
        return std::nullopt;
      }
      const auto value = analysis.polynomial(declaration->value);
      for (const auto& [axis, name] : {std::pair(from_, inner_), std::pair(to_, outer_)}) {
        if (value && *value == global_index(axis))
          return Block{declare(declaration->variable, source::variable(name))};
      }
      return std::nullopt;
    });
  }

  // Indices of elements that are taken apart and put together again: `v / n * n + v % n` is v.
  static Block with_whole_indices(const Kernel& kernel) {
    const Analysis analysis(kernel);
    return rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* access = as<Subscript>(expr);
      if (access == nullptr || !access->index->type || !holds_division(access->index, analysis))
        return std::nullopt;
      const auto polynomial = analysis.polynomial(access->index);
      if (!polynomial) return std::nullopt;
      auto whole = std::make_shared<Subscript>(*access);
      whole->index = to_expression(in_names(*polynomial, kernel, analysis),
                                   size_in_bytes(*access->index->type) > 4);
      return whole;
    });
  }

  // With the kernel's own names for global indices.
  static Polynomial in_names(Polynomial value, const Kernel& kernel, const Analysis& analysis) {
    for (const char* axis : {"x", "y", "z"}) {
      const Polynomial index = global_index(axis);
      const auto place = value.coefficient(std::string("threadIdx.") + axis);
      if (!place || place->is_zero()) continue;
      for (const StmtPtr& stmt : kernel.body) {
        const auto* declaration = as<Declaration>(stmt);
        if (declaration == nullptr || declaration->variable.scalar != ScalarType::i32 ||
            !declaration->value || !(analysis.polynomial(declaration->value) == index)) {
          continue;
        }
        const Polynomial named = Polynomial::symbol(declaration->variable.name);
        const Polynomial shorter = value - *place * index + *place * named;
        if (shorter.mentions(std::string("blockIdx.") + axis)) continue;
        value = shorter;
        break;
      }
    }
    return value;
  }

  const KernelForm& form_;
  const std::string from_;
  const std::string to_;
  const Polynomial& divisor_;
  const Problem& problem_;
  const Polynomial index_;
  std::string inner_;
  std::string outer_;
};

}  // namespace

std::vector<Polynomial> divisors_of_index(const KernelForm& form, const std::string& axis) {
  const Polynomial index = global_index(axis);
  std::vector<Polynomial> result;
  walk_expressions(form.kernel.body, [&](const Expr& expr) {
    const auto division = division_of_index(expr, form, index);
    if (!division) return;
    const Polynomial divisor = division->before * division->divisor;
    if (std::find(result.begin(), result.end(), divisor) == result.end()) result.push_back(divisor);
  });
  return result;
}

Block with_split_index(const KernelForm& form, const std::string& from, const std::string& to,
                       const Polynomial& divisor, const Problem& problem) {
  return IndexSplitter(form, from, to, divisor, problem).run();
}

}  // namespace regraph::rewrite
