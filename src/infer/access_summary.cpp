#include "infer/access_summary.h"

#include "affine/guarded_access.h"
#include "infer/analysis_form.h"
#include "source/build.h"
#include "source/lexer.h"
#include "source/match.h"
#include "source/view.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace regraph::infer {

using source::as;
using source::Expr;
using source::Polynomial;
using source::Stmt;
using source::VariableReference;

namespace {

// Sizes at which bounds are compared: which of two is the larger one may depend on them.
constexpr std::array<std::int64_t, 3> kSamples = {7, 64, 1000};

// The bounds that no other one is at least as large as everywhere.
std::vector<IntegerExpression> largest(const std::vector<IntegerExpression>& bounds) {
  std::vector<IntegerExpression> result;
  const auto covers = [&](const IntegerExpression& a, const IntegerExpression& b) {
    if (!std::ranges::includes(a.symbols(), b.symbols())) return false;
    Symbols symbols;
    for (const std::int64_t sample : kSamples) {
      std::int64_t value = sample;
      for (const std::string& symbol : a.symbols())
        symbols[symbol] = value++;
      const auto left = a.evaluate(symbols);
      const auto right = b.evaluate(symbols);
      if (!left.ok() || !right.ok() || *left < *right) return false;
    }
    return true;
  };
  for (const IntegerExpression& bound : bounds) {
    const bool covered = std::any_of(result.begin(), result.end(),
                                     [&](const auto& kept) { return covers(kept, bound); });
    if (covered) continue;
    std::erase_if(result, [&](const auto& kept) { return covers(bound, kept); });
    result.push_back(bound);
  }
  return result;
}

}  // namespace

AccessSummary::AccessSummary(const source::Kernel& kernel, const Dim3& block)
    : kernel_(analysis_form(kernel)), analysis_(kernel_), bounds_(kernel_, analysis_, block) {
  collect();
}

void AccessSummary::set_grid(const Launch& launch) {
  const std::map<std::string, IntegerExpression, std::less<>> extents = {
      {"bx", launch.block.x}, {"by", launch.block.y}, {"bz", launch.block.z}};
  std::array<std::string, 3> grid;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    grid[axis] = launch.grid[axis].substitute(extents).text();
    // As one factor of a product.
    if (!launch.grid[axis].is_constant()) grid[axis] = "(" + grid[axis] + ")";
  }
  bounds_.set_grid(std::move(grid));
}

void AccessSummary::collect() {
  // &x[i] of a view is no access of its own.
  std::set<const Expr*> addressed;
  std::map<std::string, int> viewed;
  source::walk_expressions(kernel_.body, [&](const Expr& expr) {
    const auto view = seen(expr);
    if (!view) return;
    ++viewed[view->array->name];
    const auto& operand =
        source::to<source::Cast>(source::to<source::Subscript>(expr).base).operand;
    if (const source::ExprPtr place = source::addressed(*operand)) {
      addressed.insert(place.get());
      --viewed[view->array->name];  // it is under an index
    }
  });
  affine::for_each_guarded_access(kernel_.body, [&](const affine::GuardedAccess& access) {
    if (addressed.contains(access.access)) return;
    if (const auto view = seen(*access.access)) {
      Use& use = uses_[view->array->name];
      (access.is_store ? use.written : use.read) = true;
      use.accesses.push_back({source::add(view->first, source::integer(view->width - 1)),
                              access.guards, access.stmt->line});
      for (Inequality& inequality : bounds_.inequalities(access.guards))
        inequalities_.push_back(std::move(inequality));
      return;
    }
    const auto* base = source::base_variable(*access.access);
    if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
    Use& use = uses_[base->name];
    (access.is_store ? use.written : use.read) = true;
    const auto indices = source::indices_of(*access.access);
    use.accesses.push_back({indices.front(), access.guards, access.stmt->line});
    for (Inequality& inequality : bounds_.inequalities(access.guards))
      inequalities_.push_back(std::move(inequality));
  });
  for (Inequality& inequality : bounds_.first_iterations())
    inequalities_.push_back(std::move(inequality));
  // Conditions around code that is not understood bound the grid all the same.
  source::walk(kernel_.body, [&](const Stmt& stmt) {
    const auto* branch = as<source::Branch>(stmt);
    if (branch == nullptr) return;
    for (Inequality& inequality : bounds_.inequalities({branch->condition}))
      inequalities_.push_back(std::move(inequality));
  });
  // A pointer that stands anywhere but under an index is beyond this analysis.
  std::map<std::string, int> indexed;
  std::map<std::string, int> mentioned;
  source::walk_expressions(kernel_.body, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) ++mentioned[variable->name];
    const auto* access = as<source::Subscript>(expr);
    const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
    if (base != nullptr) ++indexed[base->name];
  });
  for (const source::KernelParameter& parameter : kernel_.parameters) {
    if (!parameter.is_pointer) continue;
    Use& use = uses_[parameter.name];
    if (analysis_.is_written(parameter.name)) {
      // Atomics read and write.
      if (!use.written) use.read = true;
      use.written = true;
    }
    use.escapes = mentioned[parameter.name] != indexed[parameter.name] + viewed[parameter.name];
  }
}

std::optional<source::View> AccessSummary::seen(const Expr& access) const {
  auto view = source::view_of(access);
  const source::KernelParameter* parameter = view ? kernel_.parameter(view->array->name) : nullptr;
  const bool is_known = parameter != nullptr && parameter->is_pointer && view->first &&
                        parameter->scalar == view->scalar;
  return is_known ? std::move(view) : std::nullopt;
}

Direction AccessSummary::direction(const std::string& parameter) const {
  const auto found = uses_.find(parameter);
  if (found == uses_.end() || found->second.escapes || opaque_use(parameter)) {
    return Direction::inout;
  }
  if (!found->second.written) return Direction::in;
  return found->second.read ? Direction::inout : Direction::out;
}

void AccessSummary::for_each_index(
    const std::function<void(const source::ExprPtr&, const std::vector<source::ExprPtr>&)>& visit)
    const {
  for (const auto& [name, use] : uses_) {
    for (const Access& access : use.accesses)
      visit(access.index, access.guards);
  }
}

Result<IntegerExpression> AccessSummary::length(const std::string& parameter) const {
  if (const auto opaque = opaque_use(parameter)) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' is used in code that is not understood: {}", parameter, *opaque));
  }
  const auto found = uses_.find(parameter);
  if (found == uses_.end() || (found->second.accesses.empty() && !found->second.escapes)) {
    return IntegerExpression(1);  // not used at all
  }
  const Use& use = found->second;
  if (use.escapes) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' is used other than as {}[index]", parameter, parameter));
  }
  std::vector<IntegerExpression> bounds;
  for (const Access& access : use.accesses) {
    auto last = bounds_.row_major_upper(access.index, access.guards);
    for (const auto& [name, value] : values_) {
      if (last) last = last->substitute(name, value);
    }
    if (!last) {
      return fail(ErrorCode::not_found,
                  fmt::format("nothing in the source bounds its index in line {}", access.line));
    }
    auto bound = IntegerExpression::parse(expression_text(rounded_up(*last + Polynomial(1))));
    if (!bound) return std::move(bound).error();
    bounds.push_back(*std::move(bound));
  }
  std::string text;
  for (const IntegerExpression& bound : largest(bounds))
    text = text.empty() ? bound.text() : fmt::format("max({}, {})", text, bound.text());
  return IntegerExpression::parse(text);
}

// Text that is not understood and names the parameter, on one line; nothing when there is none.
std::optional<std::string> AccessSummary::opaque_use(const std::string& parameter) const {
  std::optional<std::string> found;
  // A pointer of a structure is named by the structure.
  const std::string name = parameter.substr(0, parameter.find('.'));
  const auto look = [&](const std::string& text) {
    if (found) return;
    for (const source::Token& token : source::tokenize(text)) {
      if (token.in(text) == name) found = text;
    }
  };
  source::walk(kernel_.body, [&](const Stmt& stmt) {
    if (const auto* opaque = as<source::OpaqueStatement>(stmt)) look(opaque->text);
  });
  source::walk_expressions(kernel_.body, [&](const Expr& expr) {
    if (const auto* opaque = as<source::OpaqueExpression>(expr)) look(opaque->text);
  });
  if (found) std::replace(found->begin(), found->end(), '\n', ' ');
  return found;
}

Polynomial rounded_up(const Polynomial& bound) {
  std::size_t degree = 0;
  for (const auto& [monomial, coefficient] : bound.terms()) {
    if (coefficient > 0) degree = std::max(degree, monomial.size());
  }
  Polynomial result;
  for (const auto& [monomial, coefficient] : bound.terms()) {
    if (coefficient < 0 && monomial.size() < degree) continue;
    Polynomial term(coefficient);
    for (const std::string& symbol : monomial)
      term = term * Polynomial::symbol(symbol);
    result = result + term;
  }
  return result;
}

std::vector<std::string> loop_limits(const source::Kernel& kernel) {
  std::vector<std::string> limits;
  const source::Analysis analysis(kernel);
  source::walk(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<source::ForLoop>(stmt);
    if (loop == nullptr && !source::is<source::WhileLoop>(stmt)) return;
    if (loop != nullptr && loop->init && value_of(*loop->init)) {
      // A loop that starts at the thread's own index is shared by all threads.
      const auto first = analysis.polynomial(value_of(*loop->init));
      const auto symbols = first ? first->symbols() : std::set<std::string>();
      if (std::any_of(symbols.begin(), symbols.end(), [](const std::string& symbol) {
            return symbol.starts_with("blockIdx") || symbol.starts_with("threadIdx");
          }))
        return;
    }
    source::walk(value_of(stmt), [&](const Expr& expr) {
      const auto* variable = as<VariableReference>(expr);
      if (variable != nullptr && kernel.parameter(variable->name) != nullptr)
        limits.push_back(variable->name);
    });
  });
  return limits;
}

}  // namespace regraph::infer
