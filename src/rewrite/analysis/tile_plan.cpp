#include "rewrite/analysis/tile_plan.h"

#include "rewrite/analysis/guarded_access.h"
#include "rewrite/analysis/seen_under.h"
#include "rewrite/analysis/tile_layout.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/inequalities.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::ExprPtr;
using source::Kernel;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

namespace {

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kLeastReuse = 2;

// All accesses of one array in the loop.
struct ArrayUse {
  std::string name;
  Polynomial index;
  std::vector<ExprPtr> guards;
  bool wide = false;
  std::string obstacle;  // why it cannot be staged; empty: it can
};

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
    const auto counted = source::counted_loop_of(*loop);
    if (!counted || counted->stride != 1)
      return refuse(where(*loop) + "not a counted loop of stride 1");
    result.counted = *counted;
    if (indexes_registers(*loop, counted->name)) {
      return refuse(where(*loop) +
                    "it counts elements of an array in registers, so it has to be written out");
    }
    for (const ExprPtr& bound : {counted->first, counted->limit}) {
      const auto polynomial = analysis_.polynomial(bound);
      if (!polynomial && !is_of_sizes(bound))
        return refuse(where(*loop) + "a bound of the loop is not a known expression");
      if (!polynomial) continue;
      for (const std::string& symbol : polynomial->symbols()) {
        if (symbol.starts_with("threadIdx")) {
          return refuse(where(*loop) + "the loop's bounds differ between the threads of a block");
        }
      }
    }
    if (Status status = collect_locals(*loop, counted->name); !status) return status.error();
    collect_uses(*loop);
    variable_ = counted->name;
    first_ = counted->first;
    outer_ = source::fresh_name(kernel_, variable_ + "0");
    result.outer = outer_;
    result.inner = source::fresh_name(kernel_, variable_ + "1");

    std::string obstacles;
    bool contracts = false;
    for (const ArrayUse& use : uses_) {
      auto staged = stage(use, false);
      if (!staged && use.obstacle.empty()) {
        if (auto apart = stage(use, true)) staged = std::move(apart);
      }
      if (!staged) {
        obstacles += (obstacles.empty() ? "" : "; ") + use.name + ": " + staged.error().message;
        continue;
      }
      contracts = contracts || staged->follows_contraction;
      result.arrays.push_back(std::move(*staged));
    }
    if (result.arrays.empty() || !contracts) {
      return refuse(
          where(*loop) + "no array can be staged" +
          (obstacles.empty() ? " (none is read from global memory)" : " (" + obstacles + ")"));
    }
    return result;
  }

 private:
  // Whether it is computed from integer parameters alone: (n + 15) / 16 * 16.
  bool is_of_sizes(const ExprPtr& expr) const {
    bool result = true;
    source::walk(expr, [&](const source::Expr& part) {
      const auto* variable = source::as<source::VariableReference>(part);
      if (variable == nullptr) {
        result = result && (source::is<source::IntegerLiteral>(part) ||
                            source::is<source::Binary>(part) || source::is<source::Cast>(part));
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

  static std::string where(const Stmt& stmt) {
    return stmt.line > 0 ? "loop at line " + std::to_string(stmt.line) + ": " : "";
  }

  bool indexes_registers(const Stmt& loop, const std::string& counter) const {
    bool found = false;
    source::walk_expressions(body_of(loop), [&](const source::Expr& node) {
      const auto* element = source::as<source::Subscript>(node);
      const auto* base = element != nullptr ? source::base_variable(node) : nullptr;
      found = found || (base != nullptr && is_register(base->name, analysis_) &&
                        source::variables_of(element->index).contains(counter));
    });
    return found;
  }

  Status collect_locals(const Stmt& loop, const std::string& variable) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::string name = std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)];
      if (extent(block_, axis) > 1) locals_[name] = extent(block_, axis);
    }
    locals_[variable] = depth_;
    Status status;
    source::walk(body_of(loop), [&](const Stmt& stmt) {
      switch (stmt.kind()) {
        case StmtKind::for_loop: {
          const auto inner = source::counted_loop_of(stmt);
          const auto trips = inner ? inner->trip_count() : std::nullopt;
          if (!trips || !inner->starts_at_zero()) {
            status = refuse(where(stmt) + "an inner loop does not run from 0 to a constant");
          } else {
            // What lies between the elements that are read is copied as well.
            const std::int64_t steps = std::max<std::int64_t>(*trips, 1) - 1;
            locals_[inner->name] = steps * inner->stride + 1;
            iterations_[inner->name] = *trips;
          }
          break;
        }
        case StmtKind::barrier:
        case StmtKind::while_loop:
        case StmtKind::jump:
        case StmtKind::return_:
        case StmtKind::opaque:
        case StmtKind::evaluation:
          status = refuse(where(stmt) + "the loop holds a barrier, a call, a jump or a while loop");
          break;
        default:
          break;
      }
    });
    return status;
  }

  // The index with the block's extents filled in and axes of extent 1 dropped.
  std::optional<Polynomial> local_polynomial(const ExprPtr& expr) const {
    const auto polynomial = analysis_.polynomial(expr);
    if (!polynomial) return std::nullopt;
    Polynomial result = with_block_extents(*polynomial, block_);
    for (int axis = 0; axis < 3; ++axis) {
      if (extent(block_, axis) > 1) continue;
      result = result.substitute(std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)],
                                 Polynomial());
    }
    return result;
  }

  void collect_uses(const Stmt& loop) {
    for_each_guarded_access(body_of(loop), [&](const GuardedAccess& access) {
      const auto* base = source::base_variable(*access.access);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) return;
      auto found = std::find_if(uses_.begin(), uses_.end(),
                                [&](const ArrayUse& use) { return use.name == base->name; });
      const bool is_new = found == uses_.end();
      if (is_new) found = uses_.insert(uses_.end(), ArrayUse{base->name, {}, {}, false, ""});
      ArrayUse& use = *found;
      if (analysis_.is_written(base->name)) use.obstacle = "written in the kernel";
      if (analysis_.is_viewed(base->name)) use.obstacle = "read as another type too";
      const ExprPtr& index = access.access->index;
      const auto polynomial = local_polynomial(index);
      if (!polynomial || !source::is<source::VariableReference>(access.access->base)) {
        use.obstacle = "its index is not a polynomial of known symbols";
        return;
      }
      use.wide = use.wide || (index->type && size_in_bytes(*index->type) == 8);
      if (is_new) {
        use.index = *polynomial;
        use.guards = access.guards;
        return;
      }
      if (!(use.index == *polynomial)) use.obstacle = "read at several different places";
      const bool same_guards =
          use.guards.size() == access.guards.size() &&
          std::equal(use.guards.begin(), use.guards.end(), access.guards.begin(),
                     [](const ExprPtr& a, const ExprPtr& b) { return source::equal(a, b); });
      if (!same_guards) use.obstacle = "read under different conditions";
    });
  }

  // Replaces local symbols by the copy's coordinates. Nothing: the polynomial mixes what the
  // array's dimensions cover and what they do not, or is no function of the coordinates.
  std::optional<Polynomial> over_coordinates(const Polynomial& polynomial,
                                             const StagedArray& array) const {
    std::set<std::string> names;
    for (const auto& [name, count] : locals_)
      names.insert(name);
    Polynomial result = polynomial.without(names);
    for (std::size_t d = 0; d < array.footprint.dimensions.size(); ++d) {
      const FootprintDimension& dimension = array.footprint.dimensions[d];
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
      if (dimension.terms.contains(variable_))
        result = result + *scale * Polynomial::symbol(outer_);
    }
    for (const std::string& symbol : polynomial.symbols()) {
      if (locals_.contains(symbol) && array.footprint.dimension_of(symbol) == nullptr)
        return std::nullopt;
    }
    return result;
  }

  // Whether a difference of what the copy's coordinates stand for may come out below zero.
  bool may_wrap(const Polynomial& side) const {
    const auto symbols = side.symbols();
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const std::string& symbol) { return locals_.contains(symbol); }) &&
           std::any_of(side.terms().begin(), side.terms().end(),
                       [](const auto& term) { return term.second < 0; });
  }

  // Adds the guard as a condition on the coordinates. A condition on symbols the array's index does
  // not use says nothing about which of its elements exist, and is dropped: some thread of the grid
  // meets it, and that thread's accesses are the original's.
  Status map_guard(const ExprPtr& guard, StagedArray& array) const {
    const auto* comparison = source::as<source::Binary>(guard);
    if (comparison == nullptr || !source::is_comparison(comparison->op) ||
        comparison->op == source::BinaryOperator::not_equal) {
      return refuse("a guard of its accesses is no comparison");
    }
    const auto left = local_polynomial(comparison->left);
    const auto right = local_polynomial(comparison->right);
    if (!left || !right)
      return refuse("a guard of its accesses is no comparison of known expressions");
    if (compares_unsigned(guard) && (may_wrap(*left) || may_wrap(*right)))
      return refuse("a guard compares without signs what may be negative");
    bool inside = false;
    bool outside = false;
    for (const Polynomial& side : {*left, *right}) {
      for (const std::string& symbol : side.symbols()) {
        if (!locals_.contains(symbol)) continue;
        (array.footprint.dimension_of(symbol) != nullptr ? inside : outside) = true;
      }
    }
    if (!inside && outside) return {};
    if (inside && outside) return refuse("a guard mixes its index with other indices");
    const auto mapped_left = over_coordinates(*left, array);
    const auto mapped_right = over_coordinates(*right, array);
    if (!mapped_left || !mapped_right) {
      return refuse("a guard of its accesses is no function of the tile's coordinates");
    }
    array.guards.push_back({comparison->op, *mapped_left, *mapped_right});
    return {};
  }

  // `apart`: digits that make one number are dimensions of their own.
  Result<StagedArray> stage(const ArrayUse& use, bool apart) {
    if (!use.obstacle.empty()) return refuse(use.obstacle);
    const source::KernelParameter* parameter = kernel_.parameter(use.name);
    if (!source::zero_value(parameter->type, parameter->scalar)) {
      return refuse("its element type is not supported in tiles");
    }
    auto footprint = footprint_of(use.index, locals_, variable_);
    if (!footprint) return footprint.error();
    if (apart) *footprint = with_digits_apart(*footprint, variable_, locals_);
    StagedArray array;
    array.name = use.name;
    array.type = parameter->type;
    array.scalar = parameter->scalar;
    array.footprint = std::move(*footprint);
    array.wide_index = use.wide;
    array.tile = source::fresh_name(kernel_, use.name + "_tile");
    const std::size_t rank = array.footprint.dimensions.size();
    if (rank == 0) return refuse("every thread reads the same element");
    if (rank > 3) return refuse("its accesses span more than three dimensions");
    if (rank > 2) array.coordinates.push_back(source::fresh_name(kernel_, use.name + "_plane"));
    if (rank > 1) array.coordinates.push_back(source::fresh_name(kernel_, use.name + "_row"));
    array.coordinates.push_back(source::fresh_name(kernel_, use.name + "_column"));
    if (const FootprintDimension* dimension = array.footprint.dimension_of(variable_)) {
      array.follows_contraction = true;
      if (dimension->terms.size() > 1) {
        return refuse("its index adds " + variable_ +
                      " to another index: a neighbourhood, not a contraction");
      }
    }
    std::int64_t reads = 1;
    for (const auto& [name, count] : locals_)
      reads *= iterations_.contains(name) ? iterations_.at(name) : count;
    if (reads / array.footprint.elements() < kLeastReuse)
      return refuse("each element is read only once");
    for (const ExprPtr& guard : use.guards) {
      if (Status status = map_guard(guard, array); !status) return status.error();
    }
    if (copies_.vectors) plan_vectors(array);
    return array;
  }

  // By how many elements the array is copied, and how its tile lies in shared memory.
  void plan_vectors(StagedArray& array) const {
    if (!array.scalar) return;
    Polynomial base = array.footprint.base;
    if (const FootprintDimension* dimension = array.footprint.dimension_of(variable_))
      base = base + dimension->stride * Polynomial::symbol(outer_);
    SymbolFacts facts;
    facts.is_parameter = [&](const std::string& symbol) {
      return kernel_.parameter(symbol) != nullptr;
    };
    // Strips begin at the loop's first iteration and are `depth` apart.
    const auto first = analysis_.polynomial(first_);
    const auto start = first ? first->constant() : std::nullopt;
    if (start) facts.multiples[outer_] = std::gcd(depth_, *start);
    array.vectors = vector_copy_of(array.footprint, base, *array.scalar, copies_.alignment, facts);
    if (array.vectors && !has_hardest_place(array)) array.vectors.reset();
    lay_out_tile(array, variable_, locals_, copies_.keeps_layout);
  }

  // Whether each guard can be asked once for the whole tile.
  bool has_hardest_place(const StagedArray& array) const {
    return std::all_of(array.guards.begin(), array.guards.end(), [&](const TileGuard& guard) {
      std::optional<TileGuard> hardest = guard;
      for (std::size_t d = 0; d < array.coordinates.size() && hardest; ++d) {
        hardest = hardest->hardest(array.coordinates[d], array.footprint.dimensions[d].extent);
      }
      return hardest.has_value();
    });
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  std::int64_t depth_;
  TileCopies copies_;
  LocalSymbols locals_;
  std::map<std::string, std::int64_t> iterations_;  // of inner loops
  ExprPtr first_;                                   // iteration of the contraction
  std::string variable_;                            // the contraction's
  std::string outer_;                               // first iteration of a strip
  std::vector<ArrayUse> uses_;
};

}  // namespace

Result<TilePlan> plan_tile(const Kernel& kernel, const Analysis& analysis, const StmtPtr& loop,
                           const Dim3& block, std::int64_t depth, const TileCopies& copies) {
  return TilePlanner(kernel, analysis, block, depth, copies).plan(loop);
}

std::vector<std::int64_t> StagedArray::extents() const {
  std::vector<std::int64_t> result;
  for (const FootprintDimension& dimension : footprint.dimensions)
    result.push_back(dimension.extent);
  if (transposed) std::swap(result[result.size() - 2], result.back());
  result.back() += padding;
  return result;
}

ExprPtr StagedArray::element(std::vector<ExprPtr> at) const {
  if (transposed) std::swap(at[at.size() - 2], at.back());
  return source::element(source::variable(tile, scalar), at);
}

}  // namespace regraph::rewrite
