// thread_per_element: as many threads as there are elements, in place of a loop in which the
// threads of the grid (the opposite of grid_stride), or those of a block, take them in turn.
//
//   for (i = global index; i < n; i += gridDim.x * blockDim.x) work of i
// becomes, with a grid for n threads,
//   i = global index; if (i < n) work of i
//
// and, where the threads of a block take the elements of a row in turn,
//
//   for (c = threadIdx.x; c < n; c += blockDim.x) work of blockIdx.x and c
// becomes
//   i = global index; if (i < rows * n) work of i / n and i % n
// by way of a thread a row (raised_elements.h) whose loop parallel_loop gives to threads. With
// form=rows the row stays a row of blocks:
//
//   c = global index; if (c < n) work of blockIdx.y and c
//
// With a width, threads have so many neighbouring elements afterwards, by vectorize_global or, of
// rows, by vectorize_window: alone the first half may lose what both gain.
//
// Legal when the iterations of a thread do not depend on each other (independent_iterations.h) and
// know their thread by the counter alone: those of different threads had no order before. Nothing
// stands around the loop but values that every thread can work out.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "affine/size_expression.h"
#include "base/result.h"
#include "rewrite/analysis/grid_stride_loop.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// Rows whose elements the threads of a block take in turn, as rows of one thread each.

// The elements one after the other, with a counter of type int.
StmtPtr counted(const GridStrideLoop& loop, Names& names) {
  Variable counter = loop.loop->declaration()->variable;
  Block body = loop.loop->body;
  std::string name = counter.name;
  if (counter.scalar != ScalarType::i32) {
    name = names.fresh(counter.name);
    counter.is_const = true;
    body.insert(body.begin(), declare(counter, variable(name)));
  }
  return counted_loop(name, to_expression(loop.offset), to_expression(loop.limit), 1,
                      std::move(body));
}

// The state in which one thread does what a block did, element after element:
//   for (c = threadIdx.x; c < n; c += blockDim.x) work of blockIdx.x and c
// becomes, with a thread for each of the blocks that there were,
//   row = global index; if (row < blocks) for (c = 0; c < n; ++c) work of row and c
// `loop.is_of_block` holds. Error: refused, where the number of blocks is no number that the kernel
// knows.
Result<KernelState> one_thread_a_block(const KernelAnalysis& kernel, const GridStrideLoop& loop) {
  const KernelForm& form = **kernel.single_exit();
  const Launch& before = **kernel.launch();
  const IntegerExpression grid = with_block_extents(before.grid[0], before.block);
  const ExprPtr blocks = size_in_kernel(grid, form.kernel, form.analysis, false);
  if (!blocks) return refuse("the grid " + grid.text() + " is not made of the kernel's parameters");
  Names names(form.kernel);
  const std::string row = names.fresh("row");
  Block body =
      rewrite_statements(form.kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        if (stmt.get() == loop.loop) return Block{counted(loop, names)};
        const auto* declaration = as<Declaration>(stmt);
        const bool goes = declaration != nullptr && declaration->value &&
                          loop.header_only.contains(declaration->variable.name);
        return goes ? std::optional(Block{}) : std::nullopt;
      });
  body = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (!is_builtin(*expr, "blockIdx.x")) return std::nullopt;
    return with_type(cast("unsigned int", variable(row)), ScalarType::u32);
  });
  KernelState result = kernel.state();
  result.unit.kernel.body = {declare_integer(row, cast("int", global_index_code("x"))),
                             branch(less(variable(row), blocks), std::move(body))};
  result.plan.launches.front().grid[0] =
      IntegerExpression::ceil_divide(grid, IntegerExpression::symbol("bx"));
  return result;
}

struct ElementsPlace {
  GridStrideLoop loop;
  Launch launch;                             // afterwards
  std::shared_ptr<const KernelState> dealt;  // what parallel_loop made of the rows of blocks
  bool moves_rows = false;                   // to the grid's next axis
};

// Stands for blockIdx.x where all others are the row's. No name of a kernel.
constexpr const char* kOwnBlock = "block of elements";

// The grid whose x axis is for elements, with its other axes moved up by one. Error: refused.
Result<Launch> with_rows_moved(const KernelAnalysis& kernel, const GridStrideLoop& loop) {
  const Analysis& analysis = (*kernel.single_exit())->analysis;
  Launch launch = **kernel.launch();
  if (launch.block.y != 1 || launch.block.z != 1)
    return refuse("the block has several axes, and rows go by blocks alone");
  for (const char* axis : kAxes) {
    if (analysis.uses_builtin(std::string("gridDim.") + axis))
      return refuse(std::string("the kernel uses gridDim.") + axis + ", which would change");
  }
  if (analysis.uses_builtin("blockIdx.z") || !(launch.grid[2] == IntegerExpression(1)))
    return refuse("the kernel uses all axes of the grid already");
  const IntegerExpression rows = with_block_extents(launch.grid[0], launch.block);
  const IntegerExpression others = with_block_extents(launch.grid[1], launch.block);
  constexpr std::int64_t kMostBlocks = 65535;
  for (const Symbols& symbols : all_sizes(kernel.problem())) {
    for (const IntegerExpression& extent : {rows, others}) {
      const auto count = extent.evaluate(symbols);
      if (!count || *count > kMostBlocks)
        return refuse("there are more rows than an axis of the grid has blocks");
    }
  }
  const IntegerExpression elements = loop.least < 1 ? at_least_one(loop.elements) : loop.elements;
  launch.grid = {IntegerExpression::ceil_divide(elements, IntegerExpression::symbol("bx")), rows,
                 others};
  return launch;
}

class ThreadPerElement final : public PlacedStep<ElementsPlace> {
 public:
  std::string_view id() const override { return "thread_per_element"; }
  std::vector<StepParameters> settings() const override {
    return {{},
            {{"form", "rows"}},
            {{"width", "4"}},
            {{"width", "8"}},
            {{"form", "rows"}, {"width", "4"}},
            {{"form", "rows"}, {"width", "8"}}};
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "", .lone_threads = true, .fixed_block = true};
  }
  Result<ElementsPlace> find(const KernelAnalysis& kernel,
                             const StepParameters& parameters) const override {
    auto place = elements(kernel, parameters);
    const auto width = parameters.find("width");
    if (!place || width == parameters.end()) return place;
    const KernelState apart = rewrite(kernel, *place);
    auto wide = by_vectors({apart, kernel.problem(), kernel.limits()}, width->second,
                           parameters.contains("form"));
    if (!wide) return wide.error();
    place->dealt = std::make_shared<const KernelState>(std::move(*wide));
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const ElementsPlace& place) const override {
    if (place.dealt) return *place.dealt;
    const KernelForm& form = **kernel.single_exit();
    KernelState result = kernel.state();
    rely_on(result, kNeedsDistinctBuffers);
    if (place.loop.effects.rounds) rely_on(result, kReordersSums);
    result.unit.kernel.body = one_element(form, place.loop);
    if (place.moves_rows) result.unit.kernel.body = with_axes_moved(result.unit.kernel.body);
    result.plan.launches.front() = place.launch;
    return result;
  }

 private:
  // A thread an element as one that has neighbours.
  static Result<KernelState> by_vectors(const KernelAnalysis& kernel, const std::string& width,
                                        bool are_rows) {
    const StepParameters wide = {{"width", width}};
    auto whole = apply_members(kernel, {{"vectorize_global", {wide}}});
    if (whole || !are_rows) return whole;
    return apply_members(kernel,
                         {{"block_size", {{{"block", "64"}}}, true}, {"vectorize_window", {wide}}});
  }

  static Result<ElementsPlace> elements(const KernelAnalysis& kernel,
                                        const StepParameters& parameters) {
    const auto form = parameters.find("form");
    if (form != parameters.end() && form->second != "rows")
      return fail(ErrorCode::invalid_argument, "'form' must be rows where it is given");
    auto loop = grid_stride_loop(kernel);
    if (!loop) return loop.error();
    if (form != parameters.end()) return rows_moved(kernel, std::move(*loop));
    if (loop->effects.rounds && !kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}' for atomics of floating point");
    }
    if (loop->is_of_block) return rows_dealt_out(kernel, std::move(*loop));
    ElementsPlace place{std::move(*loop), **kernel.launch(), nullptr, false};
    IntegerExpression elements = place.loop.elements;
    if (place.loop.least < 1) elements = at_least_one(elements);
    const auto axis = static_cast<std::size_t>(place.loop.axis);
    place.launch.grid[axis] = IntegerExpression::ceil_divide(
        elements, IntegerExpression::symbol(std::string("b") + kAxes[axis]));
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  static Result<ElementsPlace> rows_moved(const KernelAnalysis& kernel, GridStrideLoop loop) {
    if (!loop.is_of_block)
      return refuse("the threads of the grid take elements in turn, not those of a block");
    auto effects = effects_of_block_loop(kernel, loop);
    if (!effects) return effects.error();
    if (effects->rounds && !kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}' for atomics of floating point");
    }
    loop.effects = std::move(*effects);
    auto launch = with_rows_moved(kernel, loop);
    if (!launch) return launch.error();
    if (Status status = require_possible(*launch, kernel); !status) return status.error();
    return ElementsPlace{std::move(loop), std::move(*launch), nullptr, true};
  }

  static Block with_axes_moved(const Block& body) {
    return rewrite_expressions(body, [](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (is_named(expr, kOwnBlock)) return builtin("blockIdx.x");
      if (is_builtin(*expr, "blockIdx.x")) return builtin("blockIdx.y");
      if (is_builtin(*expr, "blockIdx.y")) return builtin("blockIdx.z");
      return std::nullopt;
    });
  }

  // Whether what one thread does for a block can be dealt out depends on what its analysis finds.
  static Result<ElementsPlace> rows_dealt_out(const KernelAnalysis& kernel, GridStrideLoop loop) {
    auto rows = one_thread_a_block(kernel, loop);
    if (!rows) return rows.error();
    const KernelAnalysis of_rows(*rows, kernel.problem(), kernel.limits());
    auto dealt =
        find_built_in_step("parallel_loop")->apply(of_rows, {{"axis", "x"}, {"loop", "1"}});
    if (!dealt) return dealt.error();
    return ElementsPlace{std::move(loop), **kernel.launch(),
                         std::make_shared<const KernelState>(std::move(*dealt)), false};
  }

  static Block one_element(const KernelForm& form, const GridStrideLoop& grid) {
    return rewrite_statements(form.kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt.get() == grid.loop) {
        return Block{counter_of(grid), branch(grid.loop->condition, grid.loop->body)};
      }
      const auto* declaration = as<Declaration>(stmt);
      const bool goes = declaration != nullptr && declaration->value &&
                        grid.header_only.contains(declaration->variable.name);
      return goes ? std::optional(Block{}) : std::nullopt;
    });
  }

  // The counter as the thread's number, in the counter's type.
  static StmtPtr counter_of(const GridStrideLoop& grid) {
    Variable counter = grid.loop->declaration()->variable;
    counter.is_const = true;
    const std::string axis = kAxes[static_cast<std::size_t>(grid.axis)];
    const bool is_wide = counter.scalar && size_in_bytes(*counter.scalar) == 8;
    ExprPtr block =
        grid.is_of_block ? variable(kOwnBlock, ScalarType::u32) : builtin("blockIdx." + axis);
    if (is_wide) block = cast(std::string(cuda_name(*counter.scalar)), block);
    ExprPtr number =
        add(multiply(block, builtin("blockDim." + axis)), builtin("threadIdx." + axis));
    if (!grid.offset.is_zero()) number = add(to_expression(grid.offset, is_wide), number);
    return declare(counter, number);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_thread_per_element() {
  return std::make_unique<ThreadPerElement>();
}

}  // namespace regraph::rewrite
