#include "rewrite/analysis/reduction_tree.h"

#include "rewrite/analysis/tree_rounds.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>

namespace regraph::rewrite {

StmtPtr ReductionTree::combine(const ExprPtr& target, const ExprPtr& other) const {
  if (function.empty()) return source::assign(target, op, other);
  return source::assign(target, source::call(function, {target, other}));
}

namespace {

class Matcher {
 public:
  Matcher(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), block_(block), rounds_(analysis, block) {}

  Result<ReductionTree> match(std::size_t position) {
    if (Status status = rounds_.read(kernel_.body[position]); !status) return status.error();
    const std::string& where = rounds_.where();
    const Block& round = rounds_.update();
    if (round.size() != 1 || !is<Assignment>(round[0]))
      return refuse(where + "a round is not a single guarded update");
    auto tree = match_update(to<Assignment>(round[0]), where);
    if (!tree) return tree;
    if (Status status = rounds_.require_guard(index_); !status) return status.error();
    if (Status status =
            only_first_is_read_after(kernel_.body, position, tree->array, analysis_, block_);
        !status) {
      return status.error();
    }
    tree->halves = rounds_.halves();
    return tree;
  }

 private:
  // sh[i] op= sh[i + s], or sh[i] = f(sh[i], sh[i + s]).
  Result<ReductionTree> match_update(const Assignment& update, const std::string& where) {
    ReductionTree tree;
    tree.analysis = &analysis_;
    const auto* target = as<Subscript>(update.target);
    const auto* base = base_variable(*update.target);
    const Variable* array = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (target == nullptr || array == nullptr || array->storage != Storage::shared ||
        array->extents.size() != 1 || !array->scalar) {
      return refuse(where + "it does not update a one-dimensional shared array");
    }
    if (array->extents[0] < static_cast<std::int64_t>(block_.x)) {
      return refuse(where + "the shared array is shorter than the block");
    }
    if (analysis_.is_viewed(array->name))
      return refuse(where + "the shared array is accessed as another type too");
    tree.array = array->name;
    tree.type = array->type;
    tree.scalar = *array->scalar;
    auto other = partner_of(update, where, tree);
    if (!other) return other.error();
    const auto* read = as<Subscript>(*other);
    const auto* partner = base_variable(**other);
    if (read == nullptr || partner == nullptr || partner->name != tree.array) {
      return refuse(where + "its update reads more than the array itself");
    }
    const auto own_index = rounds_.polynomial(target->index);
    const auto read_index = rounds_.polynomial(read->index);
    if (!own_index || !read_index || !(*read_index - *own_index == rounds_.stride())) {
      return refuse(where + "the partner is not one stride away");
    }
    index_ = *own_index;
    return tree;
  }

  static bool is_tree_operator(std::optional<AssignmentOperator> op) {
    return op == AssignmentOperator::add || op == AssignmentOperator::multiply ||
           op == AssignmentOperator::bit_and || op == AssignmentOperator::bit_or ||
           op == AssignmentOperator::bit_xor;
  }

  // What the element is combined with; the operation goes into `tree`.
  static Result<ExprPtr> partner_of(const Assignment& update, const std::string& where,
                                    ReductionTree& tree) {
    static const std::set<std::string> kFunctions = {"max",   "min",  "fmaxf",
                                                     "fminf", "fmax", "fmin"};
    if (is_tree_operator(update.op)) {
      tree.op = update.op;
      return update.value;
    }
    const bool is_plain = update.op == AssignmentOperator::assign;
    const auto* call = is_plain ? as<Call>(update.value) : nullptr;
    if (call != nullptr && kFunctions.contains(call->function) && call->arguments.size() == 2) {
      tree.function = call->function;
      if (!equal(call->arguments[0], update.target)) {
        return refuse(where + "its update does not combine an element with its partner");
      }
      return call->arguments[1];
    }
    const auto* operation = is_plain ? as<Binary>(update.value) : nullptr;
    const auto op = operation != nullptr ? compound(operation->op) : std::nullopt;
    if (is_tree_operator(op) && equal(operation->left, update.target)) {
      tree.op = *op;
      return operation->right;
    }
    return refuse(where + "its operator is not one of + * & | ^ max min");
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  Dim3 block_;
  TreeRounds rounds_;
  Polynomial index_;
};

}  // namespace

bool ReductionTree::is_own_slot(const ExprPtr& target) const {
  const auto* access = as<Subscript>(target);
  const auto* base = base_variable(*target);
  if (access == nullptr || base == nullptr || base->name != array) return false;
  const auto index = analysis->polynomial(access->index);
  return index && *index == Polynomial::symbol("threadIdx.x");
}

Result<ReductionTree> match_reduction_tree(const Kernel& kernel, const Analysis& analysis,
                                           std::size_t position, const Dim3& block) {
  return Matcher(kernel, analysis, block).match(position);
}

}  // namespace regraph::rewrite
