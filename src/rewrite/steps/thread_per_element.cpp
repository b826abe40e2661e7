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
// by way of a thread a row (raised_elements.h) whose loop parallel_loop gives to threads.
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
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <string>
#include <utility>

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
};

class ThreadPerElement final : public PlacedStep<ElementsPlace> {
 public:
  std::string_view id() const override { return "thread_per_element"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "", .lone_threads = true, .fixed_block = true};
  }
  Result<ElementsPlace> find(const KernelAnalysis& kernel,
                             const StepParameters& /*parameters*/) const override {
    auto loop = grid_stride_loop(kernel);
    if (!loop) return loop.error();
    if (loop->effects.rounds && !kernel.problem().assume.reassociate) {
      return refuse(
          "the problem does not grant 'assume: {reassociate: true}' for atomics of floating point");
    }
    if (loop->is_of_block) return rows_dealt_out(kernel, std::move(*loop));
    ElementsPlace place{std::move(*loop), **kernel.launch(), nullptr};
    IntegerExpression elements = place.loop.elements;
    if (place.loop.least < 1) elements = at_least_one(elements);
    const auto axis = static_cast<std::size_t>(place.loop.axis);
    place.launch.grid[axis] = IntegerExpression::ceil_divide(
        elements, IntegerExpression::symbol(std::string("b") + kAxes[axis]));
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const ElementsPlace& place) const override {
    if (place.dealt) return *place.dealt;
    const KernelForm& form = **kernel.single_exit();
    KernelState result = kernel.state();
    rely_on(result, kNeedsDistinctBuffers);
    if (place.loop.effects.rounds) rely_on(result, kReordersSums);
    result.unit.kernel.body = one_element(form, place.loop);
    result.plan.launches.front() = place.launch;
    return result;
  }

 private:
  // Whether what one thread does for a block can be dealt out depends on what its analysis finds.
  static Result<ElementsPlace> rows_dealt_out(const KernelAnalysis& kernel, GridStrideLoop loop) {
    auto rows = one_thread_a_block(kernel, loop);
    if (!rows) return rows.error();
    const KernelAnalysis of_rows(*rows, kernel.problem(), kernel.limits());
    auto dealt =
        find_built_in_step("parallel_loop")->apply(of_rows, {{"axis", "x"}, {"loop", "1"}});
    if (!dealt) return dealt.error();
    return ElementsPlace{std::move(loop), **kernel.launch(),
                         std::make_shared<const KernelState>(std::move(*dealt))};
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
    ExprPtr block = builtin("blockIdx." + axis);
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
