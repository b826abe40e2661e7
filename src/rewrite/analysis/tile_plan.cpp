#include "rewrite/analysis/tile_plan.h"

#include "affine/access_map.h"
#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "base/result.h"
#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/analysis/tile_uses.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// How tiles that are filled by vectors lie in shared memory.

// Whether a thread reads neighbours along the dimension in a loop over its copies.
bool runs_along(const AccessDimension& dimension, const std::string& contraction,
                const LocalSymbols& locals) {
  constexpr std::int64_t kShortestRun = 4;
  return std::any_of(dimension.terms.begin(), dimension.terms.end(), [&](const auto& term) {
    const auto& [symbol, factor] = term;
    return factor == 1 && symbol != contraction && !symbol.starts_with("threadIdx") &&
           locals.at(symbol) % kShortestRun == 0;
  });
}

// Sets whether the array's tile is transposed, and its padding. `contraction`: the counter of the
// loop; `locals`: extents of the indices within the block. Tiles that keep the layout of memory are
// never transposed.
void lay_out_tile(Stage& array, const std::string& contraction, const LocalSymbols& locals,
                  bool keeps_layout) {
  const std::size_t rank = array.box.dimensions.size();
  if (rank < 2) return;
  const AccessDimension& rows = array.box.dimensions[rank - 2];
  const AccessDimension& columns = array.box.dimensions[rank - 1];
  const std::int64_t width =
      kWidestAccess / static_cast<std::int64_t>(size_in_bytes(*array.scalar));
  if (keeps_layout) {
    // Threads read vectors of neighbouring rows at once. These lie in different banks when a row is
    // an odd number of vectors long.
    const bool is_even = columns.extent % (2 * width) == 0;
    if (is_even && columns.terms.contains(contraction)) array.padding = width;
    return;
  }
  // Rows of the tile follow what a thread reads one after another, so that it can read several at
  // once; the padding keeps them aligned and apart.
  if (!runs_along(rows, contraction, locals) || runs_along(columns, contraction, locals)) return;
  for (std::size_t d = 0; d < rank; ++d)
    array.order.push_back(d);
  std::swap(array.order[rank - 2], array.order[rank - 1]);
  array.padding = width;
}

// Conditions around what is read, as conditions on the coordinates of a tile.

// The strip that a tile holds.
struct TileStrip {
  const Analysis& analysis;
  const Dim3& block;
  const LocalSymbols& locals;      // (tile_uses.h)
  const std::string& contraction;  // the loop's counter
  const std::string& outer;        // the strip's first iteration
};

// Replaces local symbols by the copy's coordinates. Nothing: the polynomial mixes what the
// array's dimensions cover and what they do not, or is no function of the coordinates.
std::optional<Polynomial> over_coordinates(const Polynomial& polynomial, const TileStrip& strip,
                                           const Stage& array) {
  std::set<std::string> names;
  for (const auto& [name, count] : strip.locals)
    names.insert(name);
  Polynomial result = polynomial.without(names);
  for (std::size_t d = 0; d < array.box.dimensions.size(); ++d) {
    const AccessDimension& dimension = array.box.dimensions[d];
    std::optional<Polynomial> scale;
    for (const auto& [symbol, factor] : dimension.terms) {
      const auto coefficient = polynomial.coefficient(symbol);
      if (!coefficient) return std::nullopt;
      if (factor == 1) scale = *coefficient;
    }
    if (!scale) return std::nullopt;
    for (const auto& [symbol, factor] : dimension.terms) {
      if (!(*polynomial.coefficient(symbol) == *scale * Polynomial(factor))) return std::nullopt;
    }
    result = result + *scale * Polynomial::symbol(array.coordinates[d]);
    // The contraction variable is the strip's first iteration plus the coordinate.
    if (dimension.terms.contains(strip.contraction))
      result = result + *scale * Polynomial::symbol(strip.outer);
  }
  for (const std::string& symbol : polynomial.symbols()) {
    if (strip.locals.contains(symbol) && array.box.dimension_of(symbol) == nullptr)
      return std::nullopt;
  }
  return result;
}

// Whether a difference of what the copy's coordinates stand for may come out below zero.
bool may_wrap(const Polynomial& side, const TileStrip& strip) {
  const auto symbols = side.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const std::string& symbol) { return strip.locals.contains(symbol); }) &&
         std::any_of(side.terms().begin(), side.terms().end(),
                     [](const auto& term) { return term.second < 0; });
}

// Adds the guard as a condition on the array's coordinates. A condition on symbols the array's
// index does not use says nothing about which of its elements exist, and is dropped: some thread of
// the grid meets it, and that thread's accesses are the original's. Error: refused, where it is no
// comparison, or mixes both.
Status add_tile_condition(const ExprPtr& guard, const TileStrip& strip, Stage& array) {
  const auto* comparison = as<Binary>(guard);
  if (comparison == nullptr || !is_comparison(comparison->op) ||
      comparison->op == BinaryOperator::not_equal) {
    return refuse("a guard of its accesses is no comparison");
  }
  const auto left = local_polynomial(comparison->left, strip.analysis, strip.block);
  const auto right = local_polynomial(comparison->right, strip.analysis, strip.block);
  if (!left || !right)
    return refuse("a guard of its accesses is no comparison of known expressions");
  if (compares_unsigned(guard) && (may_wrap(*left, strip) || may_wrap(*right, strip)))
    return refuse("a guard compares without signs what may be negative");
  bool inside = false;
  bool outside = false;
  for (const Polynomial& side : {*left, *right}) {
    for (const std::string& symbol : side.symbols()) {
      if (!strip.locals.contains(symbol)) continue;
      (array.box.dimension_of(symbol) != nullptr ? inside : outside) = true;
    }
  }
  if (!inside && outside) return {};
  if (inside && outside) return refuse("a guard mixes its index with other indices");
  const auto mapped_left = over_coordinates(*left, strip, array);
  const auto mapped_right = over_coordinates(*right, strip, array);
  if (!mapped_left || !mapped_right) {
    return refuse("a guard of its accesses is no function of the tile's coordinates");
  }
  array.guards.push_back({comparison->op, *mapped_left, *mapped_right});
  return {};
}

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kLeastReuse = 2;

class TilePlanner {
 public:
  TilePlanner(const Kernel& kernel, const Analysis& analysis, const Dim3& block, std::int64_t depth,
              const TileCopies& copies)
      : kernel_(kernel), analysis_(analysis), block_(block), depth_(depth), copies_(copies) {}

  Result<TilePlan> plan(const StmtPtr& loop) {
    TilePlan result;
    result.loop = loop;
    result.depth = depth_;
    result.copies = copies_;
    const auto counted = counted_loop_of(*loop);
    if (!counted || counted->stride != 1)
      return refuse(loop_named(*loop) + "not a counted loop of stride 1");
    result.counted = *counted;
    if (indexes_registers(*loop, counted->name)) {
      return refuse(loop_named(*loop) +
                    "it counts elements of an array in registers, so it has to be written out");
    }
    for (const ExprPtr& bound : {counted->first, counted->limit}) {
      const auto polynomial = analysis_.polynomial(bound);
      if (!polynomial && !is_of_sizes(bound))
        return refuse(loop_named(*loop) + "a bound of the loop is not a known expression");
      if (!polynomial) continue;
      for (const std::string& symbol : polynomial->symbols()) {
        if (symbol.starts_with("threadIdx")) {
          return refuse(loop_named(*loop) +
                        "the loop's bounds differ between the threads of a block");
        }
      }
    }
    if (const auto trips = counted->trip_count(); trips && *trips < depth_) {
      return refuse(loop_named(*loop) + "it has only " + std::to_string(*trips) +
                    " iterations, fewer than a strip of " + std::to_string(depth_));
    }
    auto uses = tile_uses(*loop, counted->name, analysis_, block_, depth_);
    if (!uses) return uses.error();
    uses_ = std::move(*uses);
    variable_ = counted->name;
    first_ = counted->first;
    limit_ = counted->limit;
    outer_ = fresh_name(kernel_, variable_ + "0");
    result.outer = outer_;
    result.inner = fresh_name(kernel_, variable_ + "1");

    std::string obstacles;
    bool contracts = false;
    for (const ArrayUse& use : uses_.arrays) {
      auto staged = stage(use, false);
      if (!staged && use.obstacle.empty()) {
        if (auto apart = stage(use, true)) staged = std::move(apart);
      }
      if (!staged) {
        obstacles += (obstacles.empty() ? "" : "; ") + use.name + ": " + staged.error().message;
        continue;
      }
      contracts = contracts || staged->strip.has_value();
      result.arrays.push_back(std::move(*staged));
    }
    if (result.arrays.empty() || !contracts) {
      return refuse(
          loop_named(*loop) + "no array can be staged" +
          (obstacles.empty() ? " (none is read from global memory)" : " (" + obstacles + ")"));
    }
    return result;
  }

 private:
  // Whether it is computed from integer parameters alone: (n + 15) / 16 * 16.
  bool is_of_sizes(const ExprPtr& expr) const {
    bool result = true;
    walk(expr, [&](const Expr& part) {
      const auto* variable = as<VariableReference>(part);
      if (variable == nullptr) {
        result = result && (is<IntegerLiteral>(part) || is<Binary>(part) || is<Cast>(part));
        return;
      }
      const ExprPtr definition = analysis_.definition(variable->name);
      const auto meaning = analysis_.meaning()(variable->name);
      const bool is_size = kernel_.parameter(variable->name) != nullptr && meaning.has_value();
      result = result && analysis_.loop(variable->name) == nullptr &&
               (definition ? is_of_sizes(definition) : is_size);
    });
    return result;
  }

  bool indexes_registers(const Stmt& loop, const std::string& counter) const {
    return any_expression(body_of(loop), [&](const Expr& node) {
      const auto* element = as<Subscript>(node);
      const auto* base = element != nullptr ? base_variable(node) : nullptr;
      return base != nullptr && is_register(base->name, analysis_) &&
             variables_of(element->index).contains(counter);
    });
  }

  // `apart`: digits that make one number are dimensions of their own.
  Result<Stage> stage(const ArrayUse& use, bool apart) {
    if (!use.obstacle.empty()) return refuse(use.obstacle);
    const KernelParameter* parameter = kernel_.parameter(use.name);
    if (!zero_value(parameter->type, parameter->scalar)) {
      return refuse("its element type is not supported in tiles");
    }
    auto footprint = access_map_of(use.index, uses_.locals, variable_);
    if (!footprint) return footprint.error();
    if (apart) *footprint = with_digits_apart(*footprint, variable_, uses_.locals);
    Stage array;
    array.name = use.name;
    array.type = parameter->type;
    array.scalar = parameter->scalar;
    array.box = std::move(*footprint);
    array.wide_index = use.wide;
    array.tile = fresh_name(kernel_, use.name + "_tile");
    const std::size_t rank = array.box.dimensions.size();
    if (rank == 0) return refuse("every thread reads the same element");
    if (rank > 3) return refuse("its accesses span more than three dimensions");
    if (rank > 2) array.coordinates.push_back(fresh_name(kernel_, use.name + "_plane"));
    if (rank > 1) array.coordinates.push_back(fresh_name(kernel_, use.name + "_row"));
    array.coordinates.push_back(fresh_name(kernel_, use.name + "_column"));
    if (const AccessDimension* dimension = array.box.dimension_of(variable_)) {
      array.strip_offset = dimension->stride * Polynomial::symbol(outer_);
      array.strip = {static_cast<std::size_t>(dimension - array.box.dimensions.data()), outer_,
                     depth_, limit_};
      if (dimension->terms.size() > 1) {
        return refuse("its index adds " + variable_ +
                      " to another index: a neighbourhood, not a contraction");
      }
    }
    std::int64_t reads = 1;
    for (const auto& [name, count] : uses_.locals)
      reads *= uses_.iterations.contains(name) ? uses_.iterations.at(name) : count;
    if (reads / array.box.elements() < kLeastReuse) return refuse("each element is read only once");
    const TileStrip strip{analysis_, block_, uses_.locals, variable_, outer_};
    for (const ExprPtr& guard : use.guards) {
      if (Status status = add_tile_condition(guard, strip, array); !status) return status.error();
    }
    if (copies_.vectors) plan_vectors(array);
    array.is_aligned = copies_.vectors;
    return array;
  }

  // By how many elements the array is copied, and how its tile lies in shared memory.
  void plan_vectors(Stage& array) const {
    if (!array.scalar) return;
    SymbolFacts facts = facts_of(kernel_);
    // Strips begin at the loop's first iteration and are `depth` apart.
    const auto first = analysis_.polynomial(first_);
    const auto start = first ? first->constant() : std::nullopt;
    if (start) facts.multiples[outer_] = std::gcd(depth_, *start);
    array.vectors = vector_copy_of(array.box, array.box.base + array.strip_offset, *array.scalar,
                                   copies_.alignment, facts);
    if (array.vectors && !has_hardest_place(array)) array.vectors.reset();
    lay_out_tile(array, variable_, uses_.locals, copies_.keeps_layout);
  }

  // Whether each guard can be asked once for the whole tile.
  bool has_hardest_place(const Stage& array) const {
    return std::all_of(array.guards.begin(), array.guards.end(), [&](const TileGuard& guard) {
      std::optional<TileGuard> hardest = guard;
      for (std::size_t d = 0; d < array.coordinates.size() && hardest; ++d) {
        hardest = hardest->hardest(array.coordinates[d], array.box.dimensions[d].extent);
      }
      return hardest.has_value();
    });
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  std::int64_t depth_;
  TileCopies copies_;
  ExprPtr first_;  // iteration of the contraction
  ExprPtr limit_;
  std::string variable_;  // the contraction's
  std::string outer_;     // first iteration of a strip
  TileUses uses_;
};

}  // namespace

Result<TilePlan> plan_tile(const Kernel& kernel, const Analysis& analysis, const StmtPtr& loop,
                           const Dim3& block, std::int64_t depth, const TileCopies& copies) {
  return TilePlanner(kernel, analysis, block, depth, copies).plan(loop);
}

}  // namespace regraph::rewrite
