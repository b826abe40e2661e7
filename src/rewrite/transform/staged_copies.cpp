#include "rewrite/transform/staged_copies.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/index_range.h"
#include "affine/varying.h"
#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/staged_fill.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "rewrite/transform/redundant_barriers.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// By thread axis and counter: the index of the thread that filled an element, and its round.
using Filler = std::map<std::string, ExprPtr>;

// Arrays in shared memory, or in registers.
std::vector<Variable> arrays_of(const Kernel& kernel, bool are_private) {
  std::vector<Variable> arrays;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || declaration->variable.extents.empty()) return;
    if ((declaration->variable.storage == Storage::automatic) == are_private)
      arrays.push_back(declaration->variable);
  });
  return arrays;
}

class CopyRemover {
 public:
  CopyRemover(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), block_(block) {
    for (const char* axis : kAxes) {
      const std::string builtin = std::string("threadIdx.") + axis;
      varying_[builtin] = varying_names(kernel, builtin);
    }
    walk(kernel.body, [&](const Stmt& stmt) {
      if (const auto* target = as<VariableReference>(target_of(stmt)))
        assigned_.insert(target->name);
    });
  }

  Result<Block> without(const Variable& array) const {
    auto fill = find_staged_fill(kernel_, analysis_, array, block_);
    if (!fill) return fill.error();
    Status status;
    const auto without_reads =
        rewrite_expressions(kernel_.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (!status || !is_element_of(expr, array)) return std::nullopt;
          auto origin = origin_of(*expr, array, *fill);
          if (origin) return *origin;
          status = origin.error();
          return std::nullopt;
        });
    if (!status) return status.error();
    // The fill itself was rewritten, too: its statements are found by their place.
    return without_fill(kernel_.body, without_reads, array, *fill);
  }

 private:
  // `rewritten` without what stands where `before` fills and declares the array.
  static Block without_fill(const Block& before, const Block& rewritten, const Variable& array,
                            const StagedFill& fill) {
    Block kept;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto* declaration = as<Declaration>(before[i]);
      if (declaration != nullptr && declaration->variable.name == array.name) continue;
      if (std::ranges::count(fill.statements, before[i].get()) != 0) continue;
      const auto* loop = as<ForLoop>(before[i]);
      if (loop == nullptr) {
        kept.push_back(rewritten[i]);
        continue;
      }
      auto copy = std::make_shared<ForLoop>(to<ForLoop>(rewritten[i]));
      copy->body = without_fill(loop->body, to<ForLoop>(rewritten[i]).body, array, fill);
      const bool is_left = !std::ranges::all_of(
          copy->body, [](const StmtPtr& part) { return is<Declaration>(part); });
      if (is_left || !holds_fill(loop->body, fill)) kept.push_back(std::move(copy));
    }
    return kept;
  }

  static bool holds_fill(const Block& block, const StagedFill& fill) {
    return any_statement(
        block, [&](const Stmt& stmt) { return std::ranges::count(fill.statements, &stmt) != 0; });
  }

  // What the thread that filled the element has put there.
  Result<ExprPtr> origin_of(const Expr& element, const Variable& array,
                            const StagedFill& fill) const {
    Filler filler;
    if (array.storage == Storage::automatic) {
      for (const auto& [axis, names] : varying_)
        filler[axis] = source::builtin(axis);
    }
    const std::vector<ExprPtr> indices = indices_of(element);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (!find_filler(indices[i], fill.indices[i], filler))
        return refuse("an element of '" + array.name + "' may be read that no thread fills");
    }
    auto value = as_thread(fill.value, filler, fill.loop_names);
    if (!value || !fill.guard) return value;
    auto guard = as_thread(fill.guard, filler, fill.loop_names);
    if (!guard) return guard;
    auto otherwise = as_thread(fill.otherwise, filler, fill.loop_names);
    if (!otherwise) return otherwise;
    return with_type(conditional(*guard, *value, *otherwise), fill.value->type);
  }

  // Takes an index apart into the digits that it is filled by.
  bool find_filler(const ExprPtr& index, const FillIndex& filled, Filler& filler) const {
    const auto polynomial = analysis_.polynomial(index);
    if (filled.digits.size() == 1 && filled.offset == 0 && is_within(index, filled.digits[0])) {
      const std::string& axis = filled.digits[0].axis;
      filler[axis] = polynomial && is_own_index(*polynomial, axis) ? source::builtin(axis) : index;
      return true;
    }
    if (!polynomial) return false;
    Polynomial rest = with_block_extents(*polynomial, block_) - Polynomial(filled.offset);
    for (const FillDigit& digit : filled.digits) {
      Polynomial quotient;
      Polynomial remainder;
      for (const auto& [monomial, factor] : rest.terms()) {
        Polynomial term(1);
        for (const std::string& name : monomial)
          term = term * Polynomial::symbol(name);
        const bool is_number = monomial.empty() && factor >= 0;
        if (factor % digit.pitch != 0 && !is_number) {
          remainder = remainder + Polynomial(factor) * term;
        } else {
          quotient = quotient + Polynomial(factor / digit.pitch) * term;
          remainder = remainder + Polynomial(factor % digit.pitch) * term;
        }
      }
      const ExprPtr value = is_own_index(quotient, digit.axis) ? source::builtin(digit.axis)
                                                               : to_expression(quotient);
      if (!is_within(value, digit)) return false;
      filler[digit.axis] = value;
      rest = remainder;
    }
    return rest.is_zero();
  }

  static bool is_own_index(const Polynomial& index, const std::string& axis) {
    return axis.starts_with("threadIdx.") && index == Polynomial::symbol(axis);
  }

  bool is_within(const ExprPtr& index, const FillDigit& digit) const {
    const auto range = range_of(index, analysis_, block_);
    return range && range->low >= 0 && range->high < digit.extent;
  }

  // The expression as the filler computes it, where another thread asks. Names of loops that fill
  // mean nothing there.
  Result<ExprPtr> as_thread(const ExprPtr& expr, const Filler& filler,
                            const std::set<std::string>& loop_names) const {
    Status status;
    const ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (!status) return std::nullopt;
      if (const auto* builtin = as<Builtin>(node)) return index_of_thread(*builtin, filler, status);
      if (const auto* variable = as<VariableReference>(node))
        return local_as_thread(*variable, filler, loop_names, status);
      if (as<Subscript>(node) != nullptr) status = require_read_only(*node);
      const auto* call = as<Call>(node);
      const bool is_pure =
          call == nullptr || source::is_pure(*call) || call->function.starts_with("make_");
      if (!is_pure || is<OpaqueExpression>(node))
        status = refuse("what is copied is the result of a call");
      return std::nullopt;
    });
    if (!status) return status.error();
    return result;
  }

  std::optional<ExprPtr> index_of_thread(const Builtin& builtin, const Filler& filler,
                                         Status& status) const {
    if (!builtin.name.starts_with("threadIdx")) return std::nullopt;
    const auto index = filler.find(builtin.name);
    if (index != filler.end()) {
      if (is_builtin(*index->second, builtin.name)) return std::nullopt;
      return in_type_of(builtin, index->second);
    }
    if (extent(block_, builtin.name.back() - 'x') > 1)
      status = refuse("several threads fill an element, with different values");
    return std::nullopt;
  }

  std::optional<ExprPtr> local_as_thread(const VariableReference& variable, const Filler& filler,
                                         const std::set<std::string>& loop_names,
                                         Status& status) const {
    const bool is_of_loop = loop_names.contains(variable.name);
    if (const auto round = filler.find(variable.name); is_of_loop && round != filler.end())
      return as_type(round->second, variable.type);
    if (analysis_.local(variable.name) == nullptr) {  // a parameter
      if (assigned_.contains(variable.name))
        status = refuse("'" + variable.name + "' changes in the kernel");
      return std::nullopt;
    }
    // By an axis along which the other thread has the same index, its value is the same.
    const bool varies = std::ranges::any_of(varying_, [&](const auto& names) {
      const auto index = filler.find(names.first);
      const bool keeps_index = index != filler.end() && is_builtin(*index->second, names.first);
      return !keeps_index && names.second.contains(variable.name);
    });
    const ExprPtr definition = analysis_.definition(variable.name);
    const bool is_same = !varies && !is_of_loop;
    if (is_same && (definition || analysis_.loop(variable.name) != nullptr)) return std::nullopt;
    if (!definition || analysis_.loop(variable.name) != nullptr) {
      status = refuse("'" + variable.name + "' changes or comes from memory");
      return std::nullopt;
    }
    auto value = as_thread(definition, filler, loop_names);
    if (!value) {
      status = value.error();
      return std::nullopt;
    }
    return as_type(*value, variable.type);
  }

  // The value in the type, without casts there and back between integers of one size.
  static ExprPtr as_type(const ExprPtr& value, const ScalarHint& type) {
    if (value->type == type || !type) return value;
    const auto* cast = as<Cast>(value);
    const bool returns = cast != nullptr && cast->operand->type == type && value->type &&
                         size_in_bytes(*value->type) == size_in_bytes(*type) &&
                         !is_floating(*value->type) && !is_floating(*type);
    if (returns) return cast->operand;
    return with_type(source::cast(std::string(cuda_name(*type)), value), type);
  }

  Status require_read_only(const Expr& element) const {
    const auto* base = base_variable(element);
    const bool is_fixed = base != nullptr && analysis_.is_global_pointer(base->name) &&
                          !analysis_.is_written(base->name) && !assigned_.contains(base->name);
    if (is_fixed) return {};
    return refuse("what is copied is not of a buffer that is only read");
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  std::map<std::string, std::set<std::string>> varying_;  // by thread axis
  std::set<std::string> assigned_;
};

}  // namespace

namespace {

// The body without the first of the arrays that can go.
Result<Block> without_first(const Kernel& kernel, const Analysis& analysis, const Dim3& block,
                            bool are_private) {
  const CopyRemover remover(kernel, analysis, block);
  Error reason = refuse(are_private ? "no array in registers" : "no shared array");
  for (const Variable& array : arrays_of(kernel, are_private)) {
    auto body = remover.without(array);
    if (body) return body;
    reason = body.error();
  }
  return reason;
}

}  // namespace

Result<Block> without_staged_copy(const Kernel& kernel, const Analysis& analysis,
                                  const Dim3& block) {
  return without_first(kernel, analysis, block, false);
}

Block without_private_copies(const Kernel& kernel, const Dim3& block) {
  Kernel result = kernel;
  while (true) {
    const Kernel before = result;
    auto body = without_first(before, Analysis(before), block, true);
    if (!body) return result.body;
    result.body = std::move(*body);
  }
}

Result<Kernel> without_staged_copies(const Kernel& kernel, const Dim3& block) {
  Kernel result = kernel;
  for (bool changed = false;; changed = true) {
    const Kernel before = result;
    const Analysis analysis(before);
    auto body = without_staged_copy(before, analysis, block);
    if (!body && !changed) return body.error();
    if (!body) break;
    result.body = std::move(*body);
  }
  result.body = without_redundant_barriers(result);
  return result;
}

}  // namespace regraph::rewrite
