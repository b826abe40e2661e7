// window_tile: a convolution reads its window and its filter from shared memory, strip by strip of
// channels where there are any.
//
//   for (c) for (fy) for (fx) if (inside) sum += in[c][y + fy][x + fx] * filter[c][fy][fx];
// becomes
//   for (c0) { copy in's box to a tile, zeros where it is not inside; copy the filter; barrier;
//              for (c1) for (fy) for (fx) sum += tile[...] * taps[...]; barrier; }
//   if (sum is no number) add up as before;
//
// Loops over the window stand outside, those over a thread's outputs (thread_coarsen) inside and
// written out: what neighbouring outputs share is loaded once. Where not all of it can be written
// out, the loop along which outputs share comes next to them, which reorders the sum.
//
// Legal when what is read is only read, at places that are a thread's own plus a distance that
// loops bound (neighbourhood.h) or the same for all threads; when each guard is about the thread
// alone, and the sum is seen under it alone, or about the place of an element of a product's
// factor. There the tile holds a zero. The product with it adds nothing unless the other factor is
// infinite or no number; then the sum is no number, and is added up as the original does.
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/window_plan.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/stage_copy.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// The code that window_tile makes of a nest of loops over a window.

// The arguments must outlive it.
class WindowCode {
 public:
  // `form` is what `plan` was made for.
  WindowCode(const KernelForm& form, const Dim3& block, const WindowPlan& plan);

  // The kernel's body with the nest on tiles.
  [[nodiscard]] Block run();

 private:
  [[nodiscard]] Block nest();
  [[nodiscard]] Block copies();
  [[nodiscard]] Block sums();
  [[nodiscard]] Block updates() const;
  [[nodiscard]] ExprPtr on_tiles(const ExprPtr& expr) const;
  [[nodiscard]] Block keep_beginnings();
  [[nodiscard]] Block add_again();
  [[nodiscard]] Block in_copies(Block body) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const WindowPlan& plan_;
  Names names_;
  NeighbourhoodFinder finder_;
  StageCopy copies_;
  std::map<std::string, std::string> beginnings_;  // by sum: what it was before the loops
};

CounterRanges counters_of(const WindowPlan& plan) {
  const WindowLoop* strip = plan.nest.strip();
  if (strip == nullptr) return {};
  return {{strip->counted.name, plan.depth}};
}

WindowCode::WindowCode(const KernelForm& form, const Dim3& block, const WindowPlan& plan)
    : kernel_(form.kernel),
      analysis_(form.analysis),
      plan_(plan),
      names_(form.kernel),
      finder_(form.kernel, form.analysis, block, counters_of(plan)),
      copies_(form.kernel, block, names_) {
  names_.take(plan.outer);
  names_.take(plan.inner);
  take_names(plan.arrays, names_);
}

Block WindowCode::run() {
  Block result = copies_.declarations(plan_.arrays);
  for (std::size_t at = 0; at < kernel_.body.size(); ++at) {
    if (at != plan_.nest.position) {
      result.push_back(kernel_.body[at]);
      continue;
    }
    for (const Block& part : {keep_beginnings(), nest(), add_again()})
      result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

Block WindowCode::nest() {
  Block body = copies();
  body.push_back(barrier());
  const Block added = sums();
  body.insert(body.end(), added.begin(), added.end());
  const WindowLoop* strip = plan_.nest.strip();
  if (strip == nullptr) return body;
  body.push_back(barrier());
  return {
      counted_loop(plan_.outer, integer(0), strip->counted.limit, plan_.depth, std::move(body))};
}

Block WindowCode::copies() {
  Block result;
  const bool by_vectors = has_vectors(plan_.arrays);
  for (const WindowArray& array : plan_.arrays) {
    const auto by_elements =
        array.follows_threads ? StageCopy::Deal::rows_if_busy : StageCopy::Deal::in_a_loop;
    result.push_back(copies_.copy(array, by_vectors ? StageCopy::Deal::items : by_elements));
  }
  return result;
}

Block WindowCode::sums() {
  Block body = updates();
  for (std::size_t place = plan_.order.size(); place-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[plan_.order[place]];
    const int unroll = plan_.written_out[place] ? kUnrollFully : kNeverUnroll;
    if (&loop != plan_.nest.strip()) {
      body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                           std::move(body), unroll)};
      continue;
    }
    const std::string rest = names_.fresh(loop.counted.name + "_count");
    const ExprPtr left = cast("int", subtract(loop.counted.limit, source::variable(plan_.outer)));
    const ExprPtr depth = integer(plan_.depth);
    body = {declare_integer(rest, conditional(source::less(left, depth), left, depth)),
            counted_loop(plan_.inner, integer(0), source::variable(rest), 1, std::move(body),
                         kNeverUnroll)};
  }
  return body;
}

Block WindowCode::updates() const {
  Block result;
  for (const WindowUpdate& update : plan_.nest.updates)
    result.push_back(assign(update.target, update.op, on_tiles(update.value)));
  return result;
}

ExprPtr WindowCode::on_tiles(const ExprPtr& expr) const {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (const auto* choice = as<Conditional>(node)) {
      // The tile holds the zero.
      const ExprPtr& value = is_zero(choice->otherwise) ? choice->then : choice->otherwise;
      const auto* base = base_variable(*value);
      const bool is_staged =
          base != nullptr && is<Subscript>(value) && plan_.array(base->name) != nullptr;
      if (!is_staged) return std::nullopt;
      return on_tiles(value);
    }
    if (!plan_.inner.empty() && is_named(*node, plan_.nest.strip()->counted.name))
      return add(source::variable(plan_.outer), source::variable(plan_.inner));
    const auto* access = as<Subscript>(node);
    const auto* base = access != nullptr ? base_variable(*node) : nullptr;
    const WindowArray* array = base != nullptr ? plan_.array(base->name) : nullptr;
    if (array == nullptr) return std::nullopt;
    const auto coordinates = tile_coordinates(*array, access->index, finder_);
    if (!coordinates) return std::nullopt;
    std::vector<ExprPtr> place;
    for (Polynomial coordinate : *coordinates) {
      if (!plan_.inner.empty()) {
        coordinate = coordinate.substitute(plan_.nest.strip()->counted.name,
                                           Polynomial::symbol(plan_.inner));
      }
      place.push_back(to_expression(coordinate));
    }
    return array->element(place);
  });
}

Block WindowCode::in_copies(Block body) const {
  for (std::size_t place = plan_.order.size(); place-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[plan_.order[place]];
    if (!loop.is_copy) continue;
    body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                         std::move(body), kUnrollFully)};
  }
  return body;
}

// What the sums were before the loops, for add_again.
Block WindowCode::keep_beginnings() {
  if (!plan_.may_meet_infinity) return {};
  Block result;
  Block kept;
  std::set<std::string> done;
  for (const WindowUpdate& update : plan_.nest.updates) {
    const auto* base = base_variable(*update.target);
    if (!done.insert(base->name).second) continue;
    Variable before = *analysis_.local(base->name);
    before.name = names_.fresh(base->name + "_before");
    before.is_const = false;
    beginnings_[base->name] = before.name;
    result.push_back(declare(before, nullptr));
    kept.push_back(assign(
        source::element(source::variable(before.name, before.scalar), indices_of(*update.target)),
        update.target));
  }
  for (const StmtPtr& stmt : in_copies(std::move(kept)))
    result.push_back(stmt);
  return result;
}

// A zero in the place of what a guard skips adds nothing unless the other factor is infinite or no
// number. Then the sum is no number, and it is added up as before.
Block WindowCode::add_again() {
  if (!plan_.may_meet_infinity) return {};
  Block again;
  ExprPtr is_number;
  std::set<std::string> done;
  for (const WindowUpdate& update : plan_.nest.updates) {
    const auto* base = base_variable(*update.target);
    if (!done.insert(base->name).second) continue;
    const ExprPtr same = equals(update.target, update.target);
    is_number = is_number ? both(is_number, same) : same;
    again.push_back(assign(
        update.target,
        source::element(source::variable(beginnings_.at(base->name)), indices_of(*update.target))));
  }
  Block body = plan_.nest.between;
  body.insert(body.end(), plan_.nest.innermost.begin(), plan_.nest.innermost.end());
  for (std::size_t at = plan_.nest.loops.size(); at-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[at];
    if (loop.is_copy) continue;
    body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                         std::move(body), kNeverUnroll)};
  }
  again.insert(again.end(), body.begin(), body.end());
  return names_.renamed(in_copies({branch(negate(is_number), std::move(again))}));
}

class WindowTile final : public PlacedStep<WindowPlan> {
 public:
  std::string_view id() const override { return "window_tile"; }
  int position() const override { return 125; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* depth : {"all", "1", "2", "4", "8"})
      result.push_back({{"depth", depth}});
    for (const char* depth : {"all", "1", "2", "4", "8"})
      result.push_back({{"depth", depth}, {"copy", "vector"}});
    return result;
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "a copy could go stale",
            .shared = SharedMemory::none,
            .known_calls = true};
  }
  Result<WindowPlan> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    auto wanted = text_parameter(parameters, "depth");
    if (!wanted) return wanted.error();
    std::optional<std::int64_t> depth;
    if (*wanted != "all") {
      auto number = integer_parameter(parameters, "depth");
      if (!number) return number.error();
      if (*number < 1)
        return fail(ErrorCode::invalid_argument, "'depth' must be all or at least 1");
      depth = *number;
    }
    bool by_vectors = false;
    if (const auto copy = parameters.find("copy"); copy != parameters.end()) {
      if (copy->second != "vector")
        return fail(ErrorCode::invalid_argument, "'copy' must be vector");
      by_vectors = true;
    }
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto plan = plan_window(**form, **kernel.launch(), kernel.problem(), depth, by_vectors);
    if (!plan) return plan;
    const std::int64_t bytes = bytes_of_tiles(plan->arrays);
    if (Status status = require_shared_bytes(bytes, kernel, "the tiles need"); !status)
      return status.error();
    return plan;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const WindowPlan& plan) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = WindowCode(form, (*kernel.launch())->block, plan).run();
    rely_on(result, kNeedsDistinctBuffers);
    if (has_vectors(plan.arrays)) rely_on_alignment(result, kernel.problem().assume.align);
    if (plan.reorders) rely_on(result, kReordersSums);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_window_tile() {
  return std::make_unique<WindowTile>();
}

}  // namespace regraph::rewrite
