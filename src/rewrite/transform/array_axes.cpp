#include "rewrite/transform/array_axes.h"

#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
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

struct Digits {
  Polynomial high;
  Polynomial low;
};

// Between which numbers counters from zero move the value; nothing where they may not.
std::optional<std::int64_t> most_of(const Polynomial& value, const Analysis& analysis) {
  std::int64_t most = 0;
  for (const auto& [monomial, factor] : value.terms()) {
    if (factor < 0 || monomial.size() > 1) return std::nullopt;
    if (monomial.empty()) {
      most += factor;
      continue;
    }
    const CountedLoop* loop = analysis.loop(monomial.front());
    const auto trips = loop != nullptr ? loop->trips_from_zero() : std::nullopt;
    if (!trips) return std::nullopt;
    most += factor * (*trips - 1);
  }
  return most;
}

// The index as high * radix + low, where both stay within an array of so many elements.
std::optional<Digits> digits_of(const Polynomial& index, std::int64_t radix, std::int64_t elements,
                                const Analysis& analysis) {
  Digits digits;
  for (const auto& [monomial, factor] : index.terms()) {
    Polynomial term(1);
    for (const std::string& name : monomial)
      term = term * Polynomial::symbol(name);
    digits.high = digits.high + Polynomial(factor / radix) * term;
    digits.low = digits.low + Polynomial(factor % radix) * term;
  }
  const auto high = most_of(digits.high, analysis);
  const auto low = most_of(digits.low, analysis);
  if (!high || !low || *high >= elements / radix || *low >= radix) return std::nullopt;
  return digits;
}

// for (i = 0; i < elements; ++i) array[i] = value;
const Assignment* filled_in_turn(const StmtPtr& stmt, const std::string& array,
                                 std::int64_t elements) {
  const auto* loop = as<ForLoop>(stmt);
  const auto counted = loop != nullptr ? counted_loop_of(*loop) : std::nullopt;
  if (!counted || counted->trips_from_zero() != elements || loop->declaration() == nullptr ||
      loop->body.size() != 1)
    return nullptr;
  const auto* store = as<Assignment>(loop->body.front());
  const auto* element = store != nullptr ? as<Subscript>(store->target) : nullptr;
  const bool is_fill = element != nullptr && store->op == AssignmentOperator::assign &&
                       is_named(element->base, array) && is_named(element->index, counted->name) &&
                       !is_mentioned(store->value, counted->name) &&
                       !is_mentioned(store->value, array);
  return is_fill ? store : nullptr;
}

// The kernel's body with the array by two indices, or nothing.
class AxisSplitter final : public Mutator {
 public:
  AxisSplitter(const Kernel& kernel, const Analysis& analysis, const Variable& array,
               std::int64_t radix)
      : analysis_(analysis),
        array_(array),
        radix_(radix),
        elements_(array.extents.front()),
        names_(kernel) {}
  using Mutator::run;

  std::optional<Block> split(const Block& body) {
    Block result = run(body);
    return is_split_ && !failed_ ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const Assignment* fill = filled_in_turn(stmt, array_.name, elements_);
    if (fill == nullptr) {
      out.push_back(run(stmt));
      return;
    }
    const std::string high = names_.fresh("row");
    const std::string low = names_.fresh("column");
    const ExprPtr target = element(source::variable(array_.name, fill->target->type),
                                   {source::variable(high), source::variable(low)});
    const StmtPtr inner =
        counted_loop(low, integer(0), integer(radix_), 1, {assign(target, fill->value)});
    out.push_back(counted_loop(high, integer(0), integer(elements_ / radix_), 1, {inner}));
  }

  StmtPtr mutate(const StmtPtr& stmt, const Declaration& declared) override {
    if (declared.variable.name != array_.name) return Mutator::mutate(stmt, declared);
    Variable variable = declared.variable;
    variable.extents = {elements_ / radix_, radix_};
    return declare(variable, declared.value);
  }

  ExprPtr mutate(const ExprPtr& expr, const Subscript& subscript) override {
    if (!is_named(subscript.base, array_.name)) return Mutator::mutate(expr, subscript);
    const auto index = analysis_.polynomial(subscript.index);
    const auto digits = index ? digits_of(*index, radix_, elements_, analysis_) : std::nullopt;
    if (!digits) {
      failed_ = true;
      return expr;
    }
    is_split_ = true;
    return element(source::variable(array_.name, expr->type),
                   {to_expression(digits->high), to_expression(digits->low)});
  }

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    failed_ = failed_ || variable.name == array_.name;  // handed on
    return expr;
  }

  const Analysis& analysis_;
  const Variable& array_;
  const std::int64_t radix_;
  const std::int64_t elements_;
  Names names_;
  bool is_split_ = false;
  bool failed_ = false;
};

// Arrays of the thread's own with one index that begin with zeros or no values, and what counters
// in their indices are multiplied by.
std::vector<std::pair<Variable, std::set<std::int64_t>>> flat_arrays(const Kernel& kernel,
                                                                     const Analysis& analysis) {
  std::vector<std::pair<Variable, std::set<std::int64_t>>> found;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    if (declared == nullptr) return;
    const Variable& variable = declared->variable;
    const auto* list = as<InitializerList>(declared->value);
    const bool is_cleared =
        !declared->value || (list != nullptr && list->values.size() < 2 &&
                             std::ranges::all_of(list->values, source::is_zero));
    if (variable.storage != Storage::automatic || !variable.scalar || variable.is_pointer ||
        variable.extents.size() != 1 || !is_cleared)
      return;
    std::set<std::int64_t> radices;
    walk_expressions(kernel.body, [&](const Expr& expr) {
      const auto* element = as<Subscript>(expr);
      const bool is_of_array = element != nullptr && is_named(element->base, variable.name);
      const auto index = is_of_array ? analysis.polynomial(element->index) : std::nullopt;
      if (!index) return;
      for (const auto& [monomial, factor] : index->terms()) {
        if (!monomial.empty() && factor > 1 && variable.extents.front() % factor == 0)
          radices.insert(factor);
      }
    });
    if (!radices.empty()) found.emplace_back(variable, std::move(radices));
  });
  return found;
}

}  // namespace

Block with_array_axes(const Kernel& kernel) {
  Kernel result = kernel;
  for (const auto& [array, radices] : flat_arrays(kernel, Analysis(kernel))) {
    const Kernel before = result;
    const Analysis analysis(before);
    for (const std::int64_t radix : radices) {
      auto split = AxisSplitter(before, analysis, array, radix).split(before.body);
      if (!split) continue;
      result.body = std::move(*split);
      break;
    }
  }
  return result.body;
}

}  // namespace regraph::rewrite
