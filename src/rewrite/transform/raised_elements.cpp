#include "rewrite/transform/raised_elements.h"

#include "rewrite/analysis/size_expression.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::StmtPtr;

namespace {

// The elements one after the other, with a counter of type int.
StmtPtr counted(const GridStrideLoop& loop, Names& names) {
  source::Variable counter = loop.loop->declaration()->variable;
  Block body = loop.loop->body;
  std::string name = counter.name;
  if (counter.scalar != ScalarType::i32) {
    name = names.fresh(counter.name);
    counter.is_const = true;
    body.insert(body.begin(), source::declare(counter, source::variable(name)));
  }
  return source::counted_loop(name, source::to_expression(loop.offset),
                              source::to_expression(loop.limit), 1, std::move(body));
}

}  // namespace

Result<KernelState> one_thread_a_block(const KernelAnalysis& kernel, const GridStrideLoop& loop) {
  const KernelForm& form = **kernel.single_exit();
  const Launch& before = **kernel.launch();
  const IntegerExpression grid =
      before.grid[0].substitute({{"bx", IntegerExpression(before.block.x)},
                                 {"by", IntegerExpression(before.block.y)},
                                 {"bz", IntegerExpression(before.block.z)}});
  const ExprPtr blocks = size_in_kernel(grid, form.kernel, form.analysis, false);
  if (!blocks) return refuse("the grid " + grid.text() + " is not made of the kernel's parameters");
  Names names(form.kernel);
  const std::string row = names.fresh("row");
  Block body = source::rewrite_statements(
      form.kernel.body, [&](const StmtPtr& stmt) -> std::optional<Block> {
        if (stmt.get() == loop.loop) return Block{counted(loop, names)};
        const auto* declaration = source::as<Declaration>(stmt);
        const bool goes = declaration != nullptr && declaration->value &&
                          loop.header_only.contains(declaration->variable.name);
        return goes ? std::optional(Block{}) : std::nullopt;
      });
  body = source::rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (!source::is_builtin(*expr, "blockIdx.x")) return std::nullopt;
    return source::with_type(source::cast("unsigned int", source::variable(row)), ScalarType::u32);
  });
  const ExprPtr number =
      source::add(source::multiply(source::builtin("blockIdx.x"), source::builtin("blockDim.x")),
                  source::builtin("threadIdx.x"));
  KernelState result = kernel.state();
  result.unit.kernel.body = {
      source::declare_integer(row, source::cast("int", number)),
      source::branch(source::less(source::variable(row), blocks), std::move(body))};
  result.plan.launches.front().grid[0] =
      IntegerExpression::ceil_divide(grid, IntegerExpression::symbol("bx"));
  return result;
}

}  // namespace regraph::rewrite
