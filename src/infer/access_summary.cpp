#include "infer/access_summary.h"

#include "rewrite/guarded_access.h"
#include "rewrite/normal_form.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace regraph::infer {

using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;

namespace {

// Early returns become guards where that is possible; else bounds may be missed, never invented.
source::Kernel with_guards(const source::Kernel& kernel) {
  source::Kernel result = kernel;
  if (auto body = rewrite::without_early_returns(kernel.body)) result.body = *std::move(body);
  return result;
}

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
    : kernel_(with_guards(kernel)), analysis_(kernel_), bounds_(kernel_, analysis_, block) {
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
  rewrite::for_each_guarded_access(kernel_.body, [&](const rewrite::GuardedAccess& access) {
    const Expr* base = source::base_variable(*access.access);
    if (base == nullptr || !analysis_.is_global_pointer(base->text)) return;
    Use& use = uses_[base->text];
    (access.is_store ? use.written : use.read) = true;
    use.accesses.push_back({access.access->operands[1], access.guards, access.stmt->line});
    for (Inequality& inequality : bounds_.inequalities(access.guards))
      inequalities_.push_back(std::move(inequality));
  });
  for (Inequality& inequality : bounds_.first_iterations())
    inequalities_.push_back(std::move(inequality));
  // A pointer that stands anywhere but under an index is beyond this analysis.
  std::map<std::string, int> indexed;
  std::map<std::string, int> mentioned;
  source::walk_expressions(kernel_.body, [&](const Expr& expr) {
    if (expr.kind == ExprKind::variable) ++mentioned[expr.text];
    if (expr.kind == ExprKind::index && expr.operands[0]->kind == ExprKind::variable) {
      ++indexed[expr.operands[0]->text];
    }
  });
  for (const source::KernelParameter& parameter : kernel_.parameters) {
    if (!parameter.is_pointer) continue;
    Use& use = uses_[parameter.name];
    if (analysis_.is_written(parameter.name)) {
      // Atomics read and write.
      if (!use.written) use.read = true;
      use.written = true;
    }
    use.escapes = mentioned[parameter.name] != indexed[parameter.name];
  }
}

Direction AccessSummary::direction(const std::string& parameter) const {
  const auto found = uses_.find(parameter);
  if (found == uses_.end() || found->second.escapes || analysis_.opaque()) return Direction::inout;
  if (!found->second.written) return Direction::in;
  return found->second.read ? Direction::inout : Direction::out;
}

Result<IntegerExpression> AccessSummary::length(const std::string& parameter) const {
  const auto found = uses_.find(parameter);
  if (found == uses_.end() || (found->second.accesses.empty() && !found->second.escapes)) {
    return IntegerExpression(1);  // not used at all
  }
  const Use& use = found->second;
  if (use.escapes) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' is used other than as {}[index]", parameter, parameter));
  }
  if (const auto opaque = analysis_.opaque()) {
    return fail(ErrorCode::not_found, "the kernel holds code that is not understood: " + *opaque);
  }
  std::vector<IntegerExpression> bounds;
  for (const Access& access : use.accesses) {
    const auto last = bounds_.upper(access.index, access.guards);
    if (!last) {
      return fail(ErrorCode::not_found,
                  fmt::format("nothing in the source bounds its index in line {}", access.line));
    }
    auto bound = IntegerExpression::parse(expression_text(*last + Polynomial(1)));
    if (!bound) return std::move(bound).error();
    bounds.push_back(*std::move(bound));
  }
  std::string text;
  for (const IntegerExpression& bound : largest(bounds))
    text = text.empty() ? bound.text() : fmt::format("max({}, {})", text, bound.text());
  return IntegerExpression::parse(text);
}

std::vector<std::string> loop_limits(const source::Kernel& kernel) {
  std::vector<std::string> limits;
  source::walk(kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::loop && stmt.kind != StmtKind::repeat) return;
    source::walk(stmt.value, [&](const Expr& expr) {
      if (expr.kind == ExprKind::variable && kernel.parameter(expr.text) != nullptr)
        limits.push_back(expr.text);
    });
  });
  return limits;
}

}  // namespace regraph::infer
