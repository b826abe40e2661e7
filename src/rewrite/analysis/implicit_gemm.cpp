#include "rewrite/analysis/implicit_gemm.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/varying.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/analysis/row_plan.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_nest.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace regraph::rewrite {

namespace {

class GemmFinder {
 public:
  GemmFinder(const KernelForm& form, const Launch& launch, const KernelAnalysis& kernel)
      : form_(form), launch_(launch), kernel_(kernel) {
    for (const char* builtin : {"blockIdx.", "threadIdx."}) {
      for (const char* axis : kAxes)
        varying_[std::string(builtin) + axis] =
            varying_names(form.kernel, std::string(builtin) + axis);
    }
  }

  Result<GemmShape> shape() {
    Status status = find_factors();
    if (status) status = find_axes();
    if (status) status = find_loops();
    if (!status) return status.error();
    choose_chunked();
    for (std::size_t i = 0; i < 2; ++i)
      find_neighbours(i);
    for (std::size_t i = 0; i < 2; ++i)
      find_overlap(i);
    return std::move(shape_);
  }

  Result<ImplicitGemm> find(const GemmShape& shape, int ended_axis) {
    shape_ = shape;
    Status status = find_factors();
    if (status) status = find_loops();
    if (status) status = place_axes(ended_axis);
    if (status) status = place_guards();
    if (!status) return status.error();
    result_.chunked = shape.chunked;
    for (std::size_t i = 0; i < 2; ++i) {
      result_.factors[i].along_k = shape.along_k[i];
      result_.factors[i].lanes_along_k = shape.lanes_along_k[i];
      result_.factors[i].divisible = shape.divisible[i];
      result_.factors[i].dense = shape.dense[i];
    }
    return std::move(result_);
  }

 private:
  MatrixProduct& product() { return result_.product; }

  // That the value can be computed anywhere: it is made of parameters, the thread's place and the
  // loops' counters.
  Status require_arithmetic(const ExprPtr& expr) const {
    if (form_.analysis.reads_memory(expr)) return refuse("an index or a bound is read from memory");
    for (const std::string& name : variables_of(expr)) {
      if (form_.kernel.parameter(name) != nullptr || nest_.adds_over(name)) continue;
      const ExprPtr definition = form_.analysis.definition(name);
      if (!definition)
        return refuse("'" + name + "', of an index or a bound, is set more than once");
      if (Status status = require_arithmetic(definition); !status) return status;
    }
    return {};
  }

  // The axes of the grid that the value may depend on.
  std::set<int> axes_of(const ExprPtr& expr) const {
    std::set<int> found;
    for (const auto& [builtin, names] : varying_) {
      const auto axis = static_cast<int>(builtin.back() - 'x');
      if (is_varying(expr, builtin, names)) found.insert(axis);
    }
    return found;
  }

  Status find_factors() {
    int loops = 0;
    walk(form_.kernel.body, [&](const Stmt& stmt) {
      if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) ++loops;
    });
    auto nest = find_window_nest(form_.kernel, form_.analysis, WindowLengths::any);
    if (!nest) return nest.error();
    nest_ = std::move(*nest);
    if (loops != static_cast<int>(nest_.loops.size()))
      return refuse("the kernel has other loops than those of one sum");
    if (nest_.updates.size() != 1 || !indices_of(*nest_.updates.front().target).empty())
      return refuse("the loops add up more than one sum");
    const WindowUpdate& update = nest_.updates.front();
    const Variable* sum = form_.analysis.local(base_variable(*update.target)->name);
    if (sum == nullptr || sum->scalar != ScalarType::f32)
      return refuse("what the loops add to is no variable of single precision");
    product().loop = form_.kernel.body[nest_.position].get();
    product().counted = nest_.loops.back().counted;
    product().sum = sum->name;
    product().sum_type = ScalarType::f32;
    auto accesses = window_accesses(form_, nest_, launch_.block, kernel_.problem());
    if (!accesses) return accesses.error();
    const std::vector<ExprPtr> values = factors_of(added_by(update));
    if (accesses->size() != 2 || values.size() != 2)
      return refuse("what the loops add up are no products of two elements");
    for (std::size_t i = 0; i < 2; ++i) {
      if (Status status = take_factor(i, values[i], (*accesses)[i]); !status) return status;
    }
    if (product().factor_type != element_type(1))
      return refuse("the factors of the product are of two types");
    return {};
  }

  std::optional<ScalarType> element_type(std::size_t i) const {
    const KernelParameter* array = form_.kernel.parameter(result_.product.factors[i].array);
    return array != nullptr ? array->scalar : std::nullopt;
  }

  Status take_factor(std::size_t i, const ExprPtr& value, const WindowAccess& access) {
    product().factors[i].array = access.array;
    const auto type = element_type(i);
    if (type != ScalarType::f16 && type != ScalarType::bf16)
      return refuse("a factor of the product is no element of an array of half or bfloat16");
    product().factor_type = *type;
    const auto* choice = as<Conditional>(value);
    const ExprPtr chosen = choice == nullptr            ? value
                           : is_zero(choice->otherwise) ? choice->then
                                                        : choice->otherwise;
    const ExprPtr element = widened(chosen);
    const auto* subscript = as<Subscript>(element);
    if (subscript == nullptr || subscript->index != access.index || element == chosen)
      return refuse("the products are not of single precision");
    if (Status status = require_arithmetic(access.index); !status) return status;
    for (const ExprPtr& condition : access.conditions) {
      if (Status status = require_arithmetic(condition); !status) return status;
    }
    if (form_.analysis.is_written(access.array) || form_.analysis.is_viewed(access.array))
      return refuse("'" + access.array + "' is written in the kernel, or read as another type");
    result_.factors[i].element = element;
    result_.factors[i].conditions = access.conditions;
    return {};
  }

  Status find_axes() {
    std::array<std::set<int>, 2> found;
    for (std::size_t i = 0; i < 2; ++i) {
      found[i] = axes_of(result_.factors[i].element);
      for (const ExprPtr& condition : result_.factors[i].conditions)
        found[i].merge(axes_of(condition));
    }
    for (int axis = 0; axis < 3; ++axis) {
      const bool in_both = found[0].contains(axis) && found[1].contains(axis);
      const bool in_none = !found[0].contains(axis) && !found[1].contains(axis);
      if ((in_both || in_none) && extent(launch_.block, axis) != 1)
        return refuse("a block computes several products");
      for (std::size_t i = 0; i < 2; ++i) {
        if (!in_both && found[i].contains(axis)) shape_.axes[i].push_back(axis);
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (shape_.axes[i].empty()) {
        return refuse("'" + result_.product.factors[i].array +
                      "' is read along no axis of the grid that the other factor does without");
      }
    }
    return {};
  }

  Status find_loops() {
    for (const WindowLoop& loop : nest_.loops) {
      SummedLoop summed{loop.counted.name, loop.counted.first, loop.counted.limit, std::nullopt};
      for (const ExprPtr& bound : {summed.first, summed.limit}) {
        for (const std::vector<int>& axes : shape_.axes) {
          for (const int axis : axes_of(bound)) {
            if (std::ranges::find(axes, axis) != axes.end())
              return refuse("a bound of the loops differs between elements of a product");
          }
        }
        for (const std::string& name : variables_of(bound)) {
          if (nest_.adds_over(name)) return refuse("a loop's bound depends on another loop");
        }
        if (Status status = require_arithmetic(bound); !status) return status;
      }
      const ForLoop& header = *loop.loop;
      const auto* declared = header.declaration();
      if (declared == nullptr || declared->variable.scalar != ScalarType::i32)
        return refuse("a loop's counter is no int");
      const auto first = form_.analysis.polynomial(summed.first);
      const auto limit = form_.analysis.polynomial(summed.limit);
      if (first && limit) summed.trips = (*limit - *first).constant();
      if (summed.trips && *summed.trips < 1) return refuse("a loop is never run");
      result_.loops.push_back(std::move(summed));
    }
    return {};
  }

  Status place_axes(int ended_axis) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (shape_.axes[i].size() != 1) {
        return refuse("'" + result_.product.factors[i].array +
                      "' is read along several axes of the grid");
      }
      ProductFactor& factor = product().factors[i];
      factor.along_k = true;
      factor.axis.axis = shape_.axes[i].front();
      factor.axis.coordinate = fresh_name(
          form_.kernel, std::string("at_") + kAxes[static_cast<std::size_t>(factor.axis.axis)]);
      if (factor.axis.axis == ended_axis) continue;
      auto limit = thread_limit(form_.kernel, form_.analysis, launch_, factor.axis.axis);
      if (!limit) return limit.error();
      factor.axis.limit = std::move(*limit);
    }
    return {};
  }

  // Conditions on one factor's axis say what the original loads of it; what it loads of the other
  // factor there it loads for some element.
  Status place_guards() {
    for (const ExprPtr& guard : nest_.updates.front().guards) {
      if (Status status = require_arithmetic(guard); !status) return status;
      std::array<bool, 2> asks{};
      for (const int axis : axes_of(guard)) {
        for (std::size_t i = 0; i < 2; ++i)
          asks[i] = asks[i] || product().factors[i].axis.axis == axis;
      }
      if (asks[0] && asks[1]) return refuse("a guard of the product mixes rows and columns");
      for (std::size_t i = 0; i < 2; ++i) {
        if (!asks[1 - i]) result_.factors[i].conditions.push_back(guard);
      }
      if (asks_for_k(guard)) {
        product().may_meet_infinity = true;
      } else {
        product().guards.push_back(guard);
      }
    }
    for (const GatheredFactor& factor : result_.factors) {
      for (const ExprPtr& condition : factor.conditions)
        product().may_meet_infinity = product().may_meet_infinity || asks_for_k(condition);
    }
    return {};
  }

  bool asks_for_k(const ExprPtr& expr) const {
    const std::set<std::string> names = variables_of(expr);
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return nest_.adds_over(name); });
  }

  // The loop, if there are several, whose iterations make whole chunks at the sizes that the kernel
  // is to be fast on.
  void choose_chunked() {
    if (result_.loops.size() < 2) return;
    for (std::size_t at = 0; at < result_.loops.size(); ++at) {
      const SummedLoop& loop = result_.loops[at];
      const auto first = form_.analysis.polynomial(loop.first);
      const auto limit = form_.analysis.polynomial(loop.limit);
      if (!first || !limit) continue;
      const auto trips = largest_at_bench_sizes(*limit - *first, kernel_.problem());
      if (!trips || *trips < 1 || *trips % ImplicitGemm::kChunk != 0) continue;
      shape_.chunked = at;
      return;
    }
  }

  // Whether the loops' counters are the coordinates of an index without gaps, the last one fastest.
  bool lies_along_loops(const Polynomial& index) const {
    Polynomial step(1);
    for (auto loop = result_.loops.rbegin(); loop != result_.loops.rend(); ++loop) {
      const auto along = index.coefficient(loop->counter);
      const auto first = form_.analysis.polynomial(loop->first);
      const auto limit = form_.analysis.polynomial(loop->limit);
      if (!along || !first || !limit || !(*along == step)) return false;
      step = step * (*limit - *first);
    }
    return true;
  }

  // Whether the elements of the factor's chunks are neighbours, and how they are aligned.
  void find_neighbours(std::size_t i) {
    const GatheredFactor& factor = result_.factors[i];
    const auto index = form_.analysis.polynomial(to<Subscript>(*factor.element).index);
    if (!index) return;
    shape_.lanes_along_k[i] = are_chunks_nearer(i, *index);
    const std::string chunked =
        shape_.chunked ? result_.loops[*shape_.chunked].counter : std::string();
    const auto step = chunked.empty() ? std::nullopt : index->coefficient(chunked);
    const auto keeps_together = [&](const ExprPtr& condition) {
      return chunked.empty() ? !asks_for_k(condition) : !variables_of(condition).contains(chunked);
    };
    const WindowUpdate& update = nest_.updates.front();
    if (!std::ranges::all_of(factor.conditions, keeps_together)) return;
    for (const ExprPtr& guard : update.guards) {
      const std::set<int> axes = axes_of(guard);
      const bool is_others =
          std::ranges::any_of(shape_.axes[1 - i], [&](int axis) { return axes.contains(axis); });
      if (!is_others && !keeps_together(guard)) return;
    }
    shape_.along_k[i] = chunked.empty() ? lies_along_loops(*index) : step && step->constant() == 1;
    if (!shape_.along_k[i]) return;
    shape_.lanes_along_k[i] = true;
    if (auto divisible = aligned_for(*index, Chunk::any, DenseChunks::Next::iteration, i))
      shape_.divisible[i] = std::move(*divisible);
  }

  // Whether the next chunk's elements are nearer than the next line's.
  bool are_chunks_nearer(std::size_t i, const Polynomial& index) const {
    if (!shape_.chunked) return false;
    const std::string coordinate = fresh_name(form_.kernel, "coordinate");
    const auto placed = with_coordinate(index, shape_.axes[i].front(), launch_.block, coordinate);
    const auto line = placed ? placed->coefficient(coordinate) : std::nullopt;
    const std::size_t fastest =
        result_.loops.size() - (*shape_.chunked + 1 == result_.loops.size() ? 2 : 1);
    const auto chunk = index.coefficient(result_.loops[fastest].counter);
    const auto apart = chunk ? chunk->constant() : std::nullopt;
    if (!line || !apart) return false;
    const auto lines_apart = line->constant();
    return !lines_apart || std::abs(*apart) < std::abs(*lines_apart);
  }

  // The conditions of the factor, and guards of the product that the other one's axes do not take
  // part in.
  std::vector<ExprPtr> conditions_of(std::size_t i) const {
    std::vector<ExprPtr> result = result_.factors[i].conditions;
    for (const ExprPtr& guard : nest_.updates.front().guards) {
      const std::set<int> axes = axes_of(guard);
      const bool is_others =
          std::ranges::any_of(shape_.axes[1 - i], [&](int axis) { return axes.contains(axis); });
      if (!is_others) result.push_back(guard);
    }
    return result;
  }

  void find_overlap(std::size_t i) {
    if (!shape_.chunked) return;
    const auto index = form_.analysis.polynomial(to<Subscript>(*result_.factors[i].element).index);
    if (!index) return;
    std::vector<TapLoop> loops;
    for (const SummedLoop& loop : result_.loops)
      loops.push_back({loop.counter, loop.trips});
    std::vector<int> axes = shape_.axes[i];
    axes.resize(std::min<std::size_t>(axes.size(), 2));
    shape_.taps[i] =
        find_tap_axes(form_, launch_, axes, *index, conditions_of(i), loops, shape_.chunked);
    find_density(i, *index);
  }

  // Whether the loops but for the chunked one run over all places between its iterations, or
  // between lines.
  void find_density(std::size_t i, const Polynomial& index) {
    DenseChunks dense;
    std::map<std::int64_t, std::int64_t> trips;  // by step
    for (const SummedLoop& loop : result_.loops) {
      const auto along = index.coefficient(loop.counter);
      if (!along) return;
      if (&loop == &result_.loops[*shape_.chunked]) {
        dense.steps.push_back(0);
        continue;
      }
      const auto step = along->constant();
      if (!step || !loop.trips || !trips.emplace(*step, *loop.trips).second) return;
      dense.steps.push_back(*step);
    }
    std::int64_t places = 1;
    for (const auto& [step, count] : trips) {
      if (step != places) return;
      places *= count;
    }
    for (const ExprPtr& condition : conditions_of(i)) {
      if (asks_for_k(condition)) return;
    }
    const auto next = what_follows(i, index, places);
    if (!next) return;
    dense.next = *next;
    auto divisible = aligned_for(index, Chunk::first_of_others, dense.next, i);
    if (!divisible) return;
    dense.divisible = std::move(*divisible);
    shape_.dense[i] = std::move(dense);
  }

  std::optional<DenseChunks::Next> what_follows(std::size_t i, const Polynomial& index,
                                                std::int64_t places) const {
    const auto of_chunked = index.coefficient(result_.loops[*shape_.chunked].counter);
    if (of_chunked && of_chunked->constant() == places) return DenseChunks::Next::iteration;
    if (shape_.axes[i].size() != 1 || !conditions_of(i).empty()) return std::nullopt;
    const std::string line = fresh_name(form_.kernel, "coordinate");
    const auto placed = with_coordinate(index, shape_.axes[i].front(), launch_.block, line);
    const auto of_line = placed ? placed->coefficient(line) : std::nullopt;
    if (of_line && of_line->constant() == places) return DenseChunks::Next::line;
    return std::nullopt;
  }

  // Of the loops but for the chunked one.
  enum class Chunk { any, first_of_others };

  // What has to divide by eight for the index where a chunk begins to do so.
  std::optional<std::set<std::string>> aligned_for(Polynomial index, Chunk which,
                                                   DenseChunks::Next next, std::size_t i) const {
    constexpr int kVectorBytes = 16;
    if (kernel_.problem().assume.align < kVectorBytes) return std::nullopt;
    SymbolFacts facts;
    facts.is_parameter = [&](const std::string& symbol) {
      return form_.kernel.parameter(symbol) != nullptr;
    };
    for (std::size_t at = 0; at < result_.loops.size(); ++at) {
      const SummedLoop& loop = result_.loops[at];
      const auto first = form_.analysis.polynomial(loop.first);
      if (!first) return std::nullopt;
      // A chunk begins a multiple of eight iterations behind the first one. In the order of the
      // loops k does, and so do the elements' places.
      const bool is_first =
          !shape_.chunked || (which == Chunk::first_of_others && at != shape_.chunked);
      const Polynomial iteration = is_first ? Polynomial() : Polynomial::symbol(loop.counter);
      index = index.substitute(loop.counter, *first + iteration);
      const bool is_chunk = at == shape_.chunked && next == DenseChunks::Next::iteration;
      facts.multiples[loop.counter] = is_chunk ? ImplicitGemm::kChunk : 1;
    }
    index = with_block_extents(index, launch_.block);
    if (next == DenseChunks::Next::line) {
      const std::string line = fresh_name(form_.kernel, "coordinate");
      const auto placed = with_coordinate(index, shape_.axes[i].front(), launch_.block, line);
      if (!placed) return std::nullopt;
      index = *placed;
      facts.multiples[line] = ImplicitGemm::kChunk;
    }
    std::set<std::string> divisible;
    if (!require_divisible(index, ImplicitGemm::kChunk, facts, divisible)) return std::nullopt;
    return divisible;
  }

  const KernelForm& form_;
  const Launch& launch_;
  const KernelAnalysis& kernel_;
  std::map<std::string, std::set<std::string>> varying_;  // by builtin
  WindowNest nest_;
  GemmShape shape_;
  ImplicitGemm result_;
};

}  // namespace

Result<GemmShape> find_gemm_shape(const KernelForm& form, const Launch& launch,
                                  const KernelAnalysis& kernel) {
  return GemmFinder(form, launch, kernel).shape();
}

Result<ImplicitGemm> find_implicit_gemm(const KernelForm& form, const Launch& launch,
                                        const KernelAnalysis& kernel, const GemmShape& shape,
                                        int ended_axis) {
  return GemmFinder(form, launch, kernel).find(shape, ended_axis);
}

}  // namespace regraph::rewrite
