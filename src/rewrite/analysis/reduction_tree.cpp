#include "rewrite/analysis/reduction_tree.h"

#include "rewrite/analysis/tree_rounds.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <string>

namespace regraph::rewrite {

namespace {

// What the element is combined with in sh[i] op= sh[i + s] or sh[i] = f(sh[i], sh[i + s]); the
// operation goes into `sum`.
Result<ExprPtr> partner_of(const Assignment& update, const std::string& where, Reduction& sum) {
  if (is_associative(update.op)) {
    sum.op = update.op;
    return update.value;
  }
  const bool is_plain = update.op == AssignmentOperator::assign;
  const auto* call = is_plain ? as<Call>(update.value) : nullptr;
  if (call != nullptr && extremum_of(call->function) && call->arguments.size() == 2) {
    sum.kind = Reduction::Kind::function;
    sum.function = call->function;
    if (!equal(call->arguments[0], update.target))
      return refuse(where + "its update does not combine an element with its partner");
    return call->arguments[1];
  }
  const auto* operation = is_plain ? as<Binary>(update.value) : nullptr;
  const auto op = operation != nullptr ? compound(operation->op) : std::nullopt;
  if (is_associative(op) && equal(operation->left, update.target)) {
    sum.op = *op;
    return operation->right;
  }
  return refuse(where + "its operator is not one of + * & | ^ max min");
}

}  // namespace

Result<ReductionTree> match_reduction_tree(const Block& body, const Analysis& analysis,
                                           std::size_t position, const Dim3& block) {
  TreeRounds rounds(body, analysis, block);
  if (Status status = rounds.read(position); !status) return status.error();
  const std::string& where = rounds.where();
  const Block& round = rounds.update();
  if (round.size() != 1 || !is<Assignment>(round[0]))
    return refuse(where + "a round is not a single guarded update");
  const auto& update = to<Assignment>(round[0]);
  const auto own = rounds.element(update.target);
  if (!own) return refuse(where + "it does not update a one-dimensional shared array");
  ReductionTree tree;
  tree.sum = Reduction({own->array->name, own->array->type, *own->array->scalar});
  tree.halves = rounds.halves();
  const auto other = partner_of(update, where, tree.sum);
  if (!other) return other.error();
  const auto partner = rounds.element(*other);
  if (!partner) return refuse(where + "its update reads more than the array itself");
  if (Status status = rounds.require_tree(*own, *partner); !status) return status.error();
  return tree;
}

}  // namespace regraph::rewrite
