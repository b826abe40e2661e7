#include "rewrite/transform/merge_axes.h"

#include "affine/block_geometry.h"
#include "affine/guarded_access.h"
#include "affine/varying.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Whether the value is the same for all threads and blocks.
bool is_common(const ExprPtr& expr, const KernelForm& form) {
  for (const char* builtin : {"blockIdx.", "threadIdx."}) {
    for (const char* axis : kAxes) {
      const std::string name = std::string(builtin) + axis;
      if (is_varying(expr, name, varying_names(form.kernel, name))) return false;
    }
  }
  return !form.analysis.reads_memory(expr);
}

// The value over parameters alone; null where it takes other names.
ExprPtr over_parameters(const ExprPtr& expr, const KernelForm& form) {
  ExprPtr value = inlined(expr, {}, {}, form.analysis);
  const std::set<std::string> names = variables_of(value);
  const bool is_known = std::ranges::all_of(
      names, [&](const std::string& name) { return form.kernel.parameter(name) != nullptr; });
  return is_known ? value : nullptr;
}

// E of the guard `position < E` under which every store to memory stands; null where they stand
// under none, or different ones. Threads beyond it leave nothing behind.
ExprPtr guarded_extent(const KernelForm& form, const Launch& launch, int axis) {
  const std::string coordinate = fresh_name(form.kernel, "position");
  const auto extent_of = [&](const ExprPtr& guard) -> ExprPtr {
    const auto* comparison = as<Binary>(guard);
    if (comparison == nullptr || comparison->op != BinaryOperator::less) return nullptr;
    const auto left = form.analysis.polynomial(comparison->left);
    const auto place =
        left ? with_coordinate(*left, axis, launch.block, coordinate) : std::optional<Polynomial>();
    if (!place || !(*place == Polynomial::symbol(coordinate))) return nullptr;
    return is_common(comparison->right, form) ? over_parameters(comparison->right, form) : nullptr;
  };
  ExprPtr found;
  bool is_same = true;
  for_each_guarded_access(form.kernel.body, [&](const GuardedAccess& access) {
    const auto* base = base_variable(*access.access);
    const Variable* local = base != nullptr ? form.analysis.local(base->name) : nullptr;
    if (!access.is_store || (local != nullptr && !local->is_pointer)) return;
    ExprPtr extent;
    for (const ExprPtr& guard : access.guards) {
      if (!extent) extent = extent_of(guard);
    }
    is_same = is_same && extent && (!found || equal(found, extent));
    found = extent;
  });
  return is_same ? found : nullptr;
}

}  // namespace

Result<MergedAxes> merge_axes(const KernelForm& form, const Launch& launch, int fast, int slow) {
  auto limit = thread_limit(form.kernel, form.analysis, launch, fast);
  if (!limit) return limit.error();
  const auto slow_limit = thread_limit(form.kernel, form.analysis, launch, slow);
  if (!slow_limit) return slow_limit.error();
  if (*slow_limit) return refuse("no guard stops threads past the end of the grid");
  MergedAxes result{form.kernel, launch, std::move(*limit), {}};
  if (!result.width) result.width = guarded_extent(form, launch, fast);
  if (!result.width) return refuse("how many threads there are along an axis is not known");
  Names names(form.kernel);
  const auto axis_name = [](int axis) { return kAxes[static_cast<std::size_t>(axis)]; };
  const std::array axes = {
      ProductAxis{fast, names.fresh(std::string("along_") + axis_name(fast)), nullptr},
      ProductAxis{slow, names.fresh(std::string("along_") + axis_name(slow)), nullptr}};
  result.places = {axes[0].coordinate, axes[1].coordinate};
  Block body =
      rewrite_expressions(form.kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        return in_coordinates(expr, form, launch, axes, OtherAxes::as_they_are);
      });
  const std::string place = names.fresh("place");
  const ExprPtr at = variable(place);
  const ExprPtr row = variable(axes[1].coordinate);
  const ExprPtr width = is<IntegerLiteral>(result.width)
                            ? result.width
                            : conditional(less(result.width, integer(1)), integer(1), result.width);
  result.kernel.body = {
      declare_integer(place,
                      cast("int", source::builtin(std::string("blockIdx.") + axis_name(fast)))),
      declare_integer(axes[1].coordinate, divide(at, width)),
      declare_integer(axes[0].coordinate, subtract(at, multiply(row, width)))};
  append(body, result.kernel.body);
  const auto threads = [&](int axis) {
    return IntegerExpression::multiply(
        with_block_extents(launch.grid[static_cast<std::size_t>(axis)], launch.block),
        IntegerExpression(extent(launch.block, axis)));
  };
  result.launch.grid[static_cast<std::size_t>(fast)] =
      IntegerExpression::multiply(threads(fast), threads(slow));
  result.launch.grid[static_cast<std::size_t>(slow)] = IntegerExpression(1);
  set_extent(result.launch.block, fast, 1);
  set_extent(result.launch.block, slow, 1);
  return result;
}

bool is_row_major(const KernelForm& form, const Launch& launch, int fast, int slow,
                  const ExprPtr& width, const std::string& array) {
  const std::string column = fresh_name(form.kernel, "column");
  const std::string row = fresh_name(form.kernel, "row");
  const auto extent = form.analysis.polynomial_with_sizes(width);
  bool result = extent.has_value();
  walk(form.kernel.body, [&](const Stmt& stmt) {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target = assignment != nullptr ? as<Subscript>(assignment->target) : nullptr;
    const auto* base = target != nullptr ? base_variable(*target) : nullptr;
    if (!result || base == nullptr || base->name != array) return;
    auto index = form.analysis.polynomial_with_sizes(target->index);
    if (index) index = with_coordinate(*index, fast, launch.block, column);
    if (index) index = with_coordinate(*index, slow, launch.block, row);
    const auto step = index ? index->coefficient(column) : std::nullopt;
    const auto pitch = index ? index->coefficient(row) : std::nullopt;
    result = step && pitch && step->constant() == 1 && *pitch == *extent;
  });
  return result;
}

}  // namespace regraph::rewrite
