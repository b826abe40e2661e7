#include "affine/ranges.h"

#include "affine/block_geometry.h"
#include "affine/size_expression.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace regraph::affine {

namespace {

std::string on_axis(const char* builtin, int axis) {
  return std::string(builtin) + "." + kAxes[static_cast<std::size_t>(axis)];
}

}  // namespace

Ranges::Ranges(const Kernel& kernel, const Analysis& analysis, const Launch& launch,
               const Problem* problem)
    : kernel_(kernel), analysis_(analysis), launch_(launch) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t threads = extent(launch.block, axis);
    box_.set_value(on_axis("blockDim", axis), threads);
    box_.add(Polynomial(threads - 1) - Polynomial::symbol(on_axis("threadIdx", axis)));
    box_.add_range(on_axis("threadIdx", axis), Polynomial(), Polynomial(threads - 1));
  }
  for (const KernelParameter& parameter : kernel.parameters) {
    const bool is_size = problem != nullptr && !parameter.is_pointer &&
                         problem->sizes.contains(parameter.name) &&
                         !analysis.is_written(parameter.name);
    if (!is_size) continue;
    box_.add_symbol(parameter.name);
    box_.add(Polynomial::symbol(parameter.name) - Polynomial(1));
  }
  inside_ = box_;
  for (int axis = 0; axis < 3; ++axis) {
    const auto grid = grid_extent(axis, false);
    if (!grid) continue;
    const Polynomial block = Polynomial::symbol(on_axis("blockIdx", axis));
    inside_.add(grid->items - grid->pitch - grid->pitch * block);
  }
}

Constraints Ranges::in_loops_of(const Polynomial& value, Constraints known) const {
  std::set<std::string> seen;
  std::vector<std::string> open;
  const auto note = [&](const Polynomial& polynomial) {
    for (const std::string& symbol : polynomial.symbols()) {
      if (analysis_.loop(symbol) != nullptr && seen.insert(symbol).second) open.push_back(symbol);
    }
  };
  note(value);
  std::vector<const CountedLoop*> loops;
  while (!open.empty()) {
    const CountedLoop& loop = *analysis_.loop(open.back());
    open.pop_back();
    loops.push_back(&loop);
    for (const ExprPtr& bound : {loop.first, loop.limit}) {
      if (const auto polynomial = analysis_.polynomial(bound)) note(*polynomial);
    }
  }
  // Outer loops first: what they say may give a sign to the bounds of inner ones.
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    known.add_loop(**loop, analysis_);
  return known;
}

std::optional<Ranges::Extent> Ranges::grid_extent(int axis, bool in_quotients) const {
  const IntegerExpression fixed =
      with_block_extents(launch_.grid[static_cast<std::size_t>(axis)], launch_.block);
  const ExprPtr in_kernel = size_in_kernel(fixed, kernel_, analysis_, false);
  if (!in_kernel) return std::nullopt;
  ExprPtr items = in_kernel;
  Polynomial pitch(1);
  if (const auto* division = as_binary(in_kernel, BinaryOperator::divide)) {
    const auto divisor = analysis_.polynomial(division->right);
    if (!divisor || divisor->constant().value_or(0) < 1) return std::nullopt;
    items = division->left;
    pitch = *divisor;
  }
  const auto count = in_quotients
                         ? analysis_.polynomial_with_sizes(items)
                         : analysis_.polynomial(with_size_names(items, kernel_, analysis_));
  return count ? std::optional(Extent{*count, pitch}) : std::nullopt;
}

std::optional<Polynomial> Ranges::extreme(const Polynomial& value, bool is_highest) const {
  const Polynomial local = with_block_extents(value, launch_.block);
  Constraints known = in_loops_of(local, box_);
  for (const std::string& symbol : local.symbols()) {
    const CountedLoop* loop = analysis_.loop(symbol);
    const auto trips = loop != nullptr ? loop->trip_count() : std::nullopt;
    const auto first = trips ? analysis_.polynomial(loop->first) : std::nullopt;
    if (!first) continue;
    const std::int64_t last = loop->stride * std::max<std::int64_t>(*trips - 1, 0);
    known.add_range(symbol, *first, *first + Polynomial(last));
  }
  return known.extreme(local, is_highest);
}

std::optional<Polynomial> Ranges::highest(const Polynomial& value) const {
  return extreme(value, true);
}

std::optional<Polynomial> Ranges::lowest(const Polynomial& value) const {
  return extreme(value, false);
}

bool Ranges::proves(const ExprPtr& comparison, const std::vector<ExprPtr>& guards) const {
  const auto slack = slack_of(comparison, analysis_);
  if (!slack) return false;
  Constraints known = in_loops_of(*slack, inside_);
  for (const ExprPtr& guard : guards)
    known.add_condition(guard, analysis_);
  return known.proves(comparison, analysis_);
}

bool Ranges::is_negative_beyond_grid(const Polynomial& value, int axis) const {
  const auto grid = grid_extent(axis, !without_quotients(value));
  if (!grid) return false;
  // pitch * blockIdx >= items - pitch + 1
  Constraints beyond = box_;
  for (const std::string& symbol : value.symbols()) {
    const bool is_other = kernel_.parameter(symbol) == nullptr &&
                          analysis_.loop(symbol) == nullptr && !is_quotient(symbol);
    if (is_other) beyond.add_symbol(symbol);
  }
  beyond = in_loops_of(value, std::move(beyond));
  beyond.add(grid->pitch * Polynomial::symbol(on_axis("blockIdx", axis)) - grid->items +
             grid->pitch - Polynomial(1));
  return beyond.proves(Polynomial(-1) - value);
}

std::optional<Ranges::Division> Ranges::divided(const Polynomial& value,
                                                const Polynomial& divisor) const {
  if (divisor.terms().size() != 1) return std::nullopt;
  const auto& [names, number] = *divisor.terms().begin();
  if (number < 1) return std::nullopt;
  Division result;
  const Polynomial local = with_block_extents(value, launch_.block);
  for (const auto& [monomial, factor] : local.terms()) {
    Polynomial term(factor);
    for (const std::string& name : monomial)
      term = term * Polynomial::symbol(name);
    Polynomial quotient(factor % number == 0 ? factor / number : 0);
    Monomial rest = monomial;
    for (const std::string& name : names) {
      const auto found = std::find(rest.begin(), rest.end(), name);
      if (found == rest.end()) {
        quotient = Polynomial();
        break;
      }
      rest.erase(found);
    }
    for (const std::string& name : rest)
      quotient = quotient * Polynomial::symbol(name);
    if (quotient.is_zero()) {
      result.remainder = result.remainder + term;
    } else {
      result.quotient = result.quotient + quotient;
    }
  }
  const Constraints known = in_loops_of(value, inside_);
  if (!known.proves(result.remainder) ||
      !known.proves(divisor - result.remainder - Polynomial(1))) {
    return std::nullopt;
  }
  return result;
}

}  // namespace regraph::affine
