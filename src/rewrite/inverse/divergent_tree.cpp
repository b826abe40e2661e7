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

using source::ExprPtr;

source::StmtPtr doubling_loop(const source::Kernel& kernel, const ReductionTree& tree,
                              std::int64_t threads) {
  const source::Variable stride =
      source::local_variable(source::fresh_name(kernel, "stride"), "int", ScalarType::i32);
  const ExprPtr by = source::variable(stride.name);
  const ExprPtr thread = source::builtin("threadIdx.x");
  const auto slot = [&](const ExprPtr& index) {
    return source::element(source::variable(tree.array, tree.scalar), {index});
  };
  const ExprPtr works = source::equals(
      source::remainder(thread, source::multiply(source::integer(2), by)), source::integer(0));
  source::Block body;
  body.push_back(
      source::branch(works, {tree.combine(slot(thread), slot(source::add(thread, by)))}));
  body.push_back(source::barrier());
  return source::loop(source::declare(stride, source::integer(1)),
                      source::less(by, source::integer(threads)),
                      source::assign(by, source::AssignmentOperator::multiply, source::integer(2)),
                      std::move(body));
}

class DivergentTree final : public InverseRewrite {
 public:
  std::string id() const override { return "divergent_tree"; }
  std::string_view undone_by() const override { return "reduce_shuffle"; }
  std::string taken_away() const override { return "a tree whose threads lie side by side"; }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (const Status& status = kernel.transparent(); !status) return status.error();
    const Dim3& block = (*launch)->block;
    if (block.y != 1 || block.z != 1 || (block.x & (block.x - 1)) != 0)
      return refuse("the block is not one-dimensional with a power of two threads");
    KernelState result = kernel.state();
    source::Block& body = result.unit.kernel.body;
    body = kernel.kernel().body;
    Error reason = refuse("no tree reduction over a shared array");
    for (std::size_t position = 0; position < body.size(); ++position) {
      const auto tree = match_reduction_tree(kernel.kernel(), kernel.analysis(), position, block);
      if (!tree) continue;
      if (!tree->halves) {
        reason = refuse("the tree's stride doubles already");
        continue;
      }
      if (is_floating(tree->scalar)) {
        if (!kernel.problem().assume.reassociate)
          return refuse("the problem does not grant 'assume: {reassociate: true}'");
        rely_on(result, kReordersSums);
      }
      body[position] = doubling_loop(kernel.kernel(), *tree, block.x);
      return result;
    }
    return reason;
  }
};

}  // namespace

std::unique_ptr<InverseRewrite> make_divergent_tree() {
  return std::make_unique<DivergentTree>();
}

}  // namespace regraph::rewrite
