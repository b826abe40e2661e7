// reduce_shuffle: a tree reduction over a shared array becomes warp shuffles with one exchange
// between the warps.
//
// Recognised, for a one-dimensional block of a power of two threads, t = threadIdx.x:
//   for (s = 1; s < blockDim.x; s *= 2)        { if (t % (2 * s) == 0) sh[t] op= sh[t + s]; barrier
//   } for (s = 1; s < blockDim.x; s *= 2)        { i = 2 * s * t; if (i < blockDim.x) sh[i] op=
//   sh[i+s]; barrier } for (s = blockDim.x / 2; s > 0; s >>= 1)   { if (t < s) sh[t] op= sh[t + s];
//   barrier }
// with op one of + * & | ^, or sh[..] = f(sh[..], sh[..+s]) for max and min. Legal when the
// operator is associative (floating point: the problem must grant reassociation), and only sh[0] is
// read afterwards before the array is written again.
#include "affine/block_geometry.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/reduction_tree.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/warp_shuffle.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

// value op= __shfl_down_sync(mask, value, offset) for offsets lanes/2 .. 1.
StmtPtr shuffle_loop(const ReductionTree& tree, const std::string& value, const std::string& offset,
                     int lanes) {
  const ExprPtr own = source::variable(value, tree.sum.scalar);
  const ExprPtr other = call("__shfl_down_sync", {full_mask(), own, source::variable(offset)});
  return halving_loop(offset, lanes, {tree.sum.combine(own, other)});
}

struct TreePlace {
  ReductionTree tree;
  std::size_t position = 0;  // of its statement in the kernel's body
};

class ReduceShuffle final : public PlacedStep<TreePlace> {
 public:
  std::string_view id() const override { return "reduce_shuffle"; }
  int position() const override { return 100; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<TreePlace> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    const Dim3& block = (*kernel.launch())->block;
    const bool power_of_two = (block.x & (block.x - 1)) == 0;
    if (block.y != 1 || block.z != 1 || !power_of_two || block.x < 2 * kWarpLanes) {
      return refuse("the block must be one-dimensional with a power of two threads, at least 64");
    }
    const Block& body = kernel.kernel().body;
    Error reason = refuse("no tree reduction over a shared array in one of the known shapes");
    for (std::size_t position = 0; position < body.size(); ++position) {
      auto tree = match_reduction_tree(body, kernel.analysis(), position, block);
      if (!tree) {
        if (is<ForLoop>(body[position])) reason = tree.error();
        continue;
      }
      if (is_floating(tree->sum.scalar) && !kernel.problem().assume.reassociate) {
        return refuse(
            "the problem does not grant 'assume: {reassociate: true}' for floating point");
      }
      return TreePlace{std::move(*tree), position};
    }
    return reason;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TreePlace& place) const override {
    KernelState result = kernel.state();
    const Dim3& block = result.plan.launches.front().block;
    result.unit.kernel.body = rewritten(kernel, place, block);
    if (is_floating(place.tree.sum.scalar)) rely_on(result, kReordersSums);
    return result;
  }

 private:
  static ExprPtr slot(const ReductionTree& tree, ExprPtr index) {
    return element(source::variable(tree.sum.variable, tree.sum.scalar), {std::move(index)});
  }

  // Leaves the thread's own value in `value`, at the end of the statements before the tree. When
  // the array was filled right before, the value is still at hand and the store is not needed.
  static void take_own_value(const ReductionTree& tree, const BlockRow& row,
                             const std::string& value, Block& body) {
    const Variable variable = local_variable(value, tree.sum.type, tree.sum.scalar);
    const bool is_filled = body.size() >= 2 && is<Barrier>(body.back());
    const auto* fill = is_filled ? as<Assignment>(body[body.size() - 2]) : nullptr;
    if (fill != nullptr && fill->op == AssignmentOperator::assign &&
        base_name(*fill->target) == tree.sum.variable && row.is_own_slot(*fill->target)) {
      const ExprPtr filled = fill->value;
      body.resize(body.size() - 2);
      body.push_back(declare(variable, filled));
    } else {
      body.push_back(declare(variable, slot(tree, builtin("threadIdx.x"))));
      body.push_back(barrier());
    }
  }

  static Block rewritten(const KernelAnalysis& analysis, const TreePlace& place,
                         const Dim3& block) {
    const Kernel& kernel = analysis.kernel();
    const ReductionTree& tree = place.tree;
    const int warps = static_cast<int>(block.x) / kWarpLanes;
    const ExprPtr thread = builtin("threadIdx.x");
    const std::string value = fresh_name(kernel, "value");
    const std::string offset = fresh_name(kernel, "offset");
    const std::string warp_offset = fresh_name(kernel, "warp_offset");
    const ExprPtr own = source::variable(value, tree.sum.scalar);

    const auto loop = kernel.body.begin() + static_cast<std::ptrdiff_t>(place.position);
    Block body(kernel.body.begin(), loop);
    take_own_value(tree, BlockRow(analysis.analysis(), block), value, body);
    body.push_back(shuffle_loop(tree, value, offset, kWarpLanes));
    body.push_back(branch(equals(remainder(thread, integer(kWarpLanes)), integer(0)),
                          {source::assign(slot(tree, divide(thread, integer(kWarpLanes))), own)}));
    body.push_back(barrier());
    // The first warp combines what the warps left; lanes beyond them hold copies that are not used.
    Block last;
    last.push_back(source::assign(
        own, slot(tree, warps == kWarpLanes ? thread : remainder(thread, integer(warps)))));
    last.push_back(shuffle_loop(tree, value, warp_offset, warps));
    last.push_back(
        branch(equals(thread, integer(0)), {source::assign(slot(tree, integer(0)), own)}));
    body.push_back(branch(less(thread, integer(kWarpLanes)), last));
    body.push_back(barrier());
    body.insert(body.end(), loop + 1, kernel.body.end());
    return body;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_reduce_shuffle() {
  return std::make_unique<ReduceShuffle>();
}

}  // namespace regraph::rewrite
