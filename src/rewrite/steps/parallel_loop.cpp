// parallel_loop: threads of the grid take the iterations of a loop that do not depend on each
// other.
//
//   m = global index; if (m < n) for (i = 0; i < 16; ++i) work of m and i
// becomes with axis=x, where neighbouring threads take neighbouring iterations,
//   thread = global index; if (thread < n * 16) work of thread / 16 and thread % 16
// with axis=y or z, which the kernel must not use,
//   i = global index along y; if (m < n) if (i < 16) work of m and i
// and with axis=x and old_x=y or z the same, with the loop along x and m along that axis.
//
// Legal when iterations carry no values, write elements that no other iteration touches
// (iteration_overlap.h) and do nothing that has an order; atomics without a result have none, but
// sums that round need the problem's leave. Bounds are the same for all threads. Nothing stands
// outside of the loop but values that every thread can work out anew, so one thread's iterations
// become several threads', which may be ordered in any way against each other; against other
// threads they were unordered before. For axis=x a thread must be known by its global index alone.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/parallel_loops.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/loop_to_threads.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace regraph::rewrite {
namespace {

struct ThreadsPlace {
  ParallelLoop loop;
  std::string axis;
  std::string moved;  // where what was along the axis goes
  bool folds = false;
  Launch launch;  // afterwards
};

// Threads of a block along x that the loop has for itself: what one access to memory moves
// together.
constexpr std::uint32_t kLanes = 32;
// Along y, in blocks that stay of a common size.
constexpr std::uint32_t kRows = 4;
constexpr std::uint64_t kLargestBlock = 512;
constexpr std::uint32_t kMostAlongZ = 64;  // threads of a block that CUDA allows

class ParallelLoopStep final : public PlacedStep<ThreadsPlace> {
 public:
  std::string_view id() const override { return "parallel_loop"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* loop : {"1", "2"}) {
      result.push_back({{"axis", "x"}, {"loop", loop}});
      result.push_back({{"axis", "x"}, {"old_x", "y"}, {"loop", loop}});
      result.push_back({{"axis", "x"}, {"old_x", "z"}, {"loop", loop}});
      result.push_back({{"axis", "y"}, {"loop", loop}});
      result.push_back({{"axis", "z"}, {"loop", loop}});
    }
    return result;
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "", .lone_threads = true};
  }
  Result<ThreadsPlace> find(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    ThreadsPlace place;
    if (Status status = read(parameters, place); !status) return status.error();
    auto which = integer_parameter(parameters, "loop");
    if (!which) return which.error();
    const Launch& launch = **kernel.launch();
    if (Status status = require_room(kernel.analysis(), launch, place); !status)
      return status.error();
    auto loops = parallel_loops(kernel);
    if (!loops) return loops.error();
    if (*which < 1 || static_cast<std::size_t>(*which) > loops->size()) {
      return refuse("only " + std::to_string(loops->size()) +
                    " of the kernel's loops can be done by threads");
    }
    place.loop = std::move((*loops)[static_cast<std::size_t>(*which) - 1]);
    if (place.loop.effects.rounds && !kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}' for atomics of floating point");
    }
    place.launch = launch;
    if (Status status = arrange(kernel, **kernel.single_exit(), place); !status)
      return status.error();
    if (launch.block_follows_sizes() && place.launch.block != launch.block)
      return refuse("the block's extents follow the sizes, and would be fixed");
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const ThreadsPlace& place) const override {
    const KernelForm& form = **kernel.single_exit();
    KernelState result = kernel.state();
    rely_on(result, kNeedsDistinctBuffers);
    if (place.loop.effects.rounds) rely_on(result, kReordersSums);
    result.unit.kernel.body = place.folds ? loop_in_index(form, place.loop, kernel.problem())
                                          : loop_on_axis(form, place.loop, place.axis, place.moved);
    relaunch(result, place.launch);
    return result;
  }

 private:
  static Status read(const StepParameters& parameters, ThreadsPlace& place) {
    auto axis = text_parameter(parameters, "axis");
    if (!axis) return axis.error();
    if (std::find(kAxes.begin(), kAxes.end(), *axis) == kAxes.end())
      return fail(ErrorCode::invalid_argument, "'axis' must be x, y or z");
    place.axis = *axis;
    const auto old = parameters.find("old_x");
    if (old == parameters.end()) return {};
    place.moved = old->second;
    if (place.axis == "x" && (place.moved == "y" || place.moved == "z")) return {};
    return fail(ErrorCode::invalid_argument, "'old_x' must be y or z, and 'axis' x");
  }

  static std::size_t number_of(const std::string& axis) {
    return static_cast<std::size_t>(std::find(kAxes.begin(), kAxes.end(), axis) - kAxes.begin());
  }

  static bool uses(const Analysis& analysis, const std::string& axis) {
    bool used = false;
    for (const char* builtin : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."})
      used = used || analysis.uses_builtin(builtin + axis);
    return used;
  }

  // Nothing is done along the axis.
  static Status require_free(const Analysis& analysis, const Launch& launch,
                             const std::string& axis) {
    if (uses(analysis, axis)) return refuse("the kernel uses the " + axis + " axis already");
    const IntegerExpression& grid = launch.grid[number_of(axis)];
    const bool is_one =
        extent(launch.block, static_cast<int>(number_of(axis))) == 1 &&
        grid.substitute({{"b" + axis, IntegerExpression(1)}}) == IntegerExpression(1);
    if (is_one) return {};
    return refuse("several threads along " + axis + " do the same, which the kernel does not ask");
  }

  // That the axis is free where the loop, or what was along x, is to have one of its own.
  static Status require_room(const Analysis& analysis, const Launch& launch,
                             const ThreadsPlace& place) {
    const bool is_x_used = uses(analysis, "x");
    if (!place.moved.empty()) {
      if (!is_x_used) return refuse("the kernel does not use the x axis");
      return require_free(analysis, launch, place.moved);
    }
    return place.axis == "x" && is_x_used ? Status() : require_free(analysis, launch, place.axis);
  }

  static Status arrange(const KernelAnalysis& kernel, const KernelForm& form, ThreadsPlace& place) {
    const bool shares_x = place.axis == "x" && uses(form.analysis, "x");
    if (shares_x && !iterations_lie_closer(form, place.loop, place.launch, kernel.problem())) {
      return refuse(
          "what neighbouring threads touch lies closer together than what neighbouring iterations "
          "do, so the loop suits another axis");
    }
    if (!place.moved.empty()) return move_x(form, place);
    if (shares_x) return fold(kernel, form, place);
    own_axis(place, threads_on_free_axis(place));
    return {};
  }

  // Threads of a block that take iterations, besides those that it has.
  static std::uint32_t threads_on_free_axis(const ThreadsPlace& place) {
    if (place.axis == "x") return block_for(place.loop.most, kLanes * 4);
    const auto room = static_cast<std::uint32_t>(kLargestBlock / place.launch.block.count());
    return place.axis == "y" ? block_for(place.loop.most, std::min(room, kRows)) : 1;
  }

  static void own_axis(ThreadsPlace& place, std::uint32_t threads) {
    const std::size_t axis = number_of(place.axis);
    set_extent(place.launch.block, static_cast<int>(axis), threads);
    IntegerExpression iterations = place.loop.iterations;
    if (place.loop.least < 1) iterations = at_least_one(iterations);
    place.launch.grid[axis] =
        IntegerExpression::ceil_divide(iterations, IntegerExpression::symbol("b" + place.axis));
  }

  // A power of two.
  static std::uint32_t block_for(std::int64_t iterations, std::uint32_t most) {
    std::uint32_t threads = 1;
    while (2 * threads <= most && threads < iterations)
      threads *= 2;
    return threads;
  }

  // What was along x goes elsewhere, with as many threads a block as there were.
  static Status move_x(const KernelForm& form, ThreadsPlace& place) {
    if (Status status = require_uncoarsened_index(form.kernel, form.analysis, "x"); !status)
      return status;
    const std::size_t to = number_of(place.moved);
    const std::uint32_t before = place.launch.block.x;
    if (before > 1 && !place.launch.grid[0].symbols().contains("bx"))
      return refuse("the grid's x extent is not written in bx, so it would not follow the block");
    const std::uint32_t most = before > 1 ? std::min(before, kLanes) : kLanes * 4;
    const std::uint32_t threads = block_for(place.loop.most, most);
    const std::uint32_t most_moved = place.moved == "z" ? kMostAlongZ : before;
    set_extent(place.launch.block, static_cast<int>(to),
               std::clamp<std::uint32_t>(before / threads, 1, most_moved));
    place.launch.grid[to] =
        place.launch.grid[0].substitute({{"bx", IntegerExpression::symbol("b" + place.moved)}});
    own_axis(place, threads);
    return {};
  }

  static Status fold(const KernelAnalysis& kernel, const KernelForm& form, ThreadsPlace& place) {
    place.folds = true;
    if (Status status = require_uncoarsened_index(form.kernel, form.analysis, "x"); !status)
      return status;
    const auto count = iterations_in_kernel(place.loop);
    if (!count)
      return refuse("the number of iterations is neither a number nor a product of parameters");
    if (place.loop.least < 1) return refuse("at some size of the problem the loop does not run");
    place.launch.grid[0] = grid_of_iterations(form, kernel.problem(), place);
    for (const Symbols& symbols : all_sizes(kernel.problem())) {
      const auto concrete = concretise(place.launch, symbols);
      if (!concrete) return refuse("the launch would not be valid: " + concrete.error().message);
      const std::uint64_t threads = std::uint64_t{concrete->grid.x} * concrete->block.x;
      if (threads > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
        return refuse("the number of threads along x would not fit 32 bits");
    }
    return {};
  }

  // As many blocks as there are iterations of a thread for each that there was, less those that
  // guards keep from all work.
  static IntegerExpression grid_of_iterations(const KernelForm& form, const Problem& problem,
                                              const ThreadsPlace& place) {
    const IntegerExpression& grid = place.launch.grid[0];
    const IntegerExpression& iterations = place.loop.iterations;
    const IntegerExpression threads = IntegerExpression::symbol("bx");
    if (const auto items = guarded_items(form, place)) {
      return IntegerExpression::ceil_divide(IntegerExpression::multiply(*items, iterations),
                                            threads);
    }
    // cdiv(n, 16 * bx), where a thread looks whether there are as many things as it has iterations.
    const IntegerExpression chunk = IntegerExpression::multiply(iterations, threads);
    if (const auto items = dividend_of(grid, chunk)) {
      Launch fewer = place.launch;
      fewer.grid[0] = IntegerExpression::ceil_divide(*items, threads);
      Kernel kernel = form.kernel;
      kernel.body = loop_in_index(form, place.loop, problem);
      if (grid_is_guarded(kernel, Analysis(kernel), fewer, 0)) return fewer.grid[0];
    }
    return IntegerExpression::multiply(grid, iterations);
  }

  // n, where the grid is cdiv(n, bx) and only threads below n reach the loop: no threads beyond n
  // need to be there.
  static std::optional<IntegerExpression> guarded_items(const KernelForm& form,
                                                        const ThreadsPlace& place) {
    const auto items = dividend_of(place.launch.grid[0], IntegerExpression::symbol("bx"));
    if (!items) return std::nullopt;
    const ExprPtr in_kernel = size_in_kernel(*items, form.kernel, form.analysis, false);
    const auto polynomial = in_kernel ? form.analysis.polynomial(in_kernel) : std::nullopt;
    if (!polynomial) return std::nullopt;
    bool is_guarded = false;
    walk(form.kernel.body, [&](const Stmt& stmt) {
      const bool holds_loop = any_statement(
          body_of(stmt), [&](const Stmt& inner) { return &inner == place.loop.loop; });
      if (!holds_loop || !is<Branch>(stmt)) return;
      for (const ExprPtr& guard : conjuncts(value_of(stmt)))
        is_guarded = is_guarded || limit_of_index(guard, form) == polynomial;
    });
    return is_guarded ? std::optional(*items) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_parallel_loop() {
  return std::make_unique<ParallelLoopStep>();
}

}  // namespace regraph::rewrite
