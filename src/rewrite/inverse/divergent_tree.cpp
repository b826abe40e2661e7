// divergent_tree: a tree reduction whose stride halves, so that its threads lie side by side, gets
// a stride that doubles:
//
//   for (s = 1; s < blockDim.x; s *= 2) { if (t % (2 * s) == 0) sh[t] op= sh[t + s]; barrier }
//
// Every warp then works to the end, each round with fewer of its lanes. Legal for a power of two
// threads, when the operator is associative (floating point: the problem must grant reassociation).
#include "rewrite/analysis/reduction_tree.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "source/build.h"
#include "source/walk.h"

namespace regraph::rewrite {
namespace {

StmtPtr doubling_loop(const Kernel& kernel, const ReductionTree& tree, std::int64_t threads) {
  const Variable stride = local_variable(fresh_name(kernel, "stride"), "int", ScalarType::i32);
  const ExprPtr by = variable(stride.name);
  const ExprPtr thread = builtin("threadIdx.x");
  const auto slot = [&](const ExprPtr& index) {
    return element(variable(tree.sum.variable, tree.sum.scalar), {index});
  };
  const ExprPtr works = equals(remainder(thread, source::multiply(integer(2), by)), integer(0));
  Block body;
  body.push_back(branch(works, {tree.sum.combine(slot(thread), slot(add(thread, by)))}));
  body.push_back(barrier());
  return loop(declare(stride, integer(1)), less(by, integer(threads)),
              assign(by, AssignmentOperator::multiply, integer(2)), std::move(body));
}

}  // namespace

Result<KernelState> with_divergent_tree(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  if (const Status& status = kernel.transparent(); !status) return status.error();
  const Dim3& block = (*launch)->block;
  if (block.y != 1 || block.z != 1 || (block.x & (block.x - 1)) != 0)
    return refuse("the block is not one-dimensional with a power of two threads");
  KernelState result = kernel.state();
  Block& body = result.unit.kernel.body;
  body = kernel.kernel().body;
  Error reason = refuse("no tree reduction over a shared array");
  for (std::size_t position = 0; position < body.size(); ++position) {
    const auto tree = match_reduction_tree(body, kernel.analysis(), position, block);
    if (!tree) continue;
    if (!tree->halves) {
      reason = refuse("the tree's stride doubles already");
      continue;
    }
    if (is_floating(tree->sum.scalar)) {
      if (!kernel.problem().assume.reassociate)
        return refuse("the problem does not grant 'assume: {reassociate: true}'");
      rely_on(result, kReordersSums);
    }
    body[position] = doubling_loop(kernel.kernel(), *tree, block.x);
    return result;
  }
  return reason;
}

}  // namespace regraph::rewrite
