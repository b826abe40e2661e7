#include "rewrite/transform/grid_by_block.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/forms/block_extents.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr std::array<const char*, 3> kExtents = {"bx", "by", "bz"};

// Names that the kernel's own block gives to places along the axes.
std::array<std::string, 3> names_of_places(const Kernel& kernel) {
  const Analysis analysis(kernel);
  std::array<std::string, 3> names;
  for (const StmtPtr& stmt : kernel.body) {
    const auto* named = as<Declaration>(stmt);
    if (named == nullptr || !named->value || !analysis.definition(named->variable.name)) continue;
    const auto value = analysis.polynomial(named->value);
    for (std::size_t axis = 0; value && axis < 3; ++axis) {
      if (*value == global_index(kAxes[axis])) names[axis] = named->variable.name;
    }
  }
  return names;
}

// Where the body goes on behind the declarations of these names; nothing where something before
// does more than give names to values that are not in memory.
std::optional<std::size_t> behind_places(const Block& body, const Analysis& analysis,
                                         const std::set<std::string>& places) {
  std::size_t behind = 0;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const auto* named = as<Declaration>(body[at]);
    if (named != nullptr && places.contains(named->variable.name)) behind = at + 1;
  }
  for (std::size_t at = 0; at < behind; ++at) {
    const auto* named = as<Declaration>(body[at]);
    const bool is_harmless = named != nullptr && named->value && named->variable.extents.empty() &&
                             !analysis.reads_memory(named->value);
    if (!is_harmless) return std::nullopt;
  }
  return behind;
}

// The launch that follows the block along the axis.
Launch following(const Launch& launch, std::size_t axis, const IntegerExpression& items) {
  Launch result = launch;
  result.grid[axis] =
      IntegerExpression::ceil_divide(items, IntegerExpression::symbol(kExtents[axis]));
  return result;
}

}  // namespace

GridByBlock with_grid_by_block(const Kernel& kernel, const Launch& launch) {
  GridByBlock result{kernel.body, launch};
  Kernel named = kernel;
  named.body = with_named_block_extents(kernel.body, launch.block);
  const Analysis analysis(named);
  const auto places = names_of_places(named);
  std::vector<ExprPtr> guards;
  Block ends;
  std::set<std::string> asked;
  Launch guarded = launch;
  for (int axis = 0; axis < 3; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t threads = extent(launch.block, axis);
    const bool is_asked = analysis.uses_builtin(std::string("gridDim.") + kAxes[at]);
    if (threads == 1 || is_asked || launch.grid[at].symbols().contains(kExtents[at])) continue;
    const IntegerExpression whole(threads);
    if (const auto items = dividend_of(launch.grid[at], whole)) {
      const Launch follows = following(launch, at, *items);
      if (grid_is_guarded(named, analysis, follows, axis)) {
        result.launch.grid[at] = guarded.grid[at] = follows.grid[at];
        continue;
      }
    }
    const IntegerExpression items = IntegerExpression::multiply(launch.grid[at], whole);
    const ExprPtr limit = size_in_kernel(items, named, analysis, false);
    if (!limit || places[at].empty()) continue;
    // By a name: what is no polynomial of the sizes is one of the name.
    const std::string end = fresh_name(named, places[at] + "_end");
    named.body.push_back(declare_integer(end, limit));
    ends.push_back(named.body.back());
    guards.push_back(less(variable(places[at]), variable(end)));
    asked.insert(places[at]);
    guarded = following(guarded, at, items);
  }
  named.body.resize(named.body.size() - ends.size());
  const auto behind = behind_places(named.body, analysis, asked);
  if (guards.empty() || !behind) return result;
  result.launch = guarded;
  const auto front = named.body.begin() + static_cast<std::ptrdiff_t>(*behind);
  result.body = Block(named.body.begin(), front);
  result.body.insert(result.body.end(), ends.begin(), ends.end());
  result.body.push_back(branch(conjunction(guards), Block(front, named.body.end())));
  return result;
}

}  // namespace regraph::rewrite
