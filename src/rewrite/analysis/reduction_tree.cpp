#include "rewrite/analysis/reduction_tree.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Barrier;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::Call;
using source::Declaration;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Polynomial;
using source::Stmt;
using source::StmtPtr;
using source::Subscript;
using source::to;
using source::VariableReference;

StmtPtr ReductionTree::combine(const ExprPtr& target, const ExprPtr& other) const {
  if (function.empty()) return source::assign(target, op, other);
  return source::assign(target, source::call(function, {target, other}));
}

namespace {

std::optional<Polynomial> thread_index() {
  return Polynomial::symbol("threadIdx.x");
}

enum class Order { none, doubling, halving };

class Matcher {
 public:
  Matcher(const source::Kernel& kernel, const source::Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), block_(block) {}

  Result<ReductionTree> match(std::size_t position) {
    const auto* loop = as<ForLoop>(kernel_.body[position]);
    if (loop == nullptr || !loop->init || loop->advance() == nullptr || !loop->condition)
      return refuse("no loop");
    const std::string where = "loop at line " + std::to_string(loop->line) + ": ";
    order_ = order_of(*loop);
    if (order_ == Order::none)
      return refuse(where + "its stride neither halves nor doubles over the block");
    Block body = loop->body;
    if (body.empty() || !is<Barrier>(body.back())) {
      return refuse(where + "no barrier at the end of a round");
    }
    body.pop_back();
    // `int index = 2 * s * t;` may stand before the condition.
    const auto* index = body.size() == 2 ? as<Declaration>(body[0]) : nullptr;
    if (index != nullptr && index->value) body.erase(body.begin());
    const auto* guarded = body.size() == 1 ? as<Branch>(body[0]) : nullptr;
    const bool is_update = guarded != nullptr && guarded->otherwise.empty() &&
                           guarded->body.size() == 1 && is<Assignment>(guarded->body[0]);
    if (!is_update) return refuse(where + "a round is not a single guarded update");
    auto tree = match_update(to<Assignment>(guarded->body[0]), where);
    if (!tree) return tree;
    if (!guard_matches(guarded->condition)) {
      return refuse(where + "its guard does not select the threads of a tree");
    }
    if (Status status = only_first_is_read_after(position, tree->array); !status)
      return status.error();
    tree->halves = order_ == Order::halving;
    return tree;
  }

 private:
  // Meaning of names inside the loop: the stride is a symbol of its own.
  std::optional<Polynomial> polynomial(const ExprPtr& expr) const {
    const auto meaning = [this](const std::string& name) -> std::optional<Polynomial> {
      if (name == stride_) return Polynomial::symbol(name);
      const ExprPtr definition = analysis_.definition(name);
      if (definition) return polynomial(definition);
      return analysis_.meaning()(name);
    };
    const auto result = source::to_polynomial(expr, meaning);
    return result ? std::optional(with_block_extents(*result, block_)) : std::nullopt;
  }

  Order order_of(const ForLoop& loop) {
    const auto* counter = as<VariableReference>(target_of(*loop.init));
    const std::string name = loop.declaration() != nullptr ? loop.declaration()->variable.name
                             : counter != nullptr          ? counter->name
                                                           : "";
    if (name.empty() || !value_of(*loop.init)) return Order::none;
    stride_ = name;
    const Assignment& step = *loop.advance();
    const auto* condition = as<Binary>(loop.condition);
    if (!source::is_named(step.target, name) || condition == nullptr ||
        !source::is_named(condition->left, name)) {
      return Order::none;
    }
    const auto first = start_of(value_of(*loop.init));
    const auto limit = polynomial(condition->right);
    if (!first || !limit) return Order::none;
    const auto amount = step_amount(step);
    if (amount == 2 && *first == 1 && condition->op == BinaryOperator::less &&
        limit->constant() == block_.x) {
      return Order::doubling;
    }
    const bool to_zero =
        (condition->op == BinaryOperator::greater && limit->constant() == 0) ||
        (condition->op == BinaryOperator::greater_equal && limit->constant() == 1) ||
        (condition->op == BinaryOperator::not_equal && limit->constant() == 0);
    if (amount == -2 && *first == block_.x / 2 && to_zero) return Order::halving;
    return Order::none;
  }

  // The loop's first stride as a number.
  std::optional<std::int64_t> start_of(const ExprPtr& expr) const {
    if (const auto value = polynomial(expr)) return value->constant();
    // blockDim.x / 2, blockDim.x >> 1
    const auto* half = as<Binary>(expr);
    if (half == nullptr) return std::nullopt;
    const auto left = polynomial(half->left);
    const auto right = polynomial(half->right);
    if (!left || !right || !left->constant() || !right->constant()) return std::nullopt;
    if (half->op == BinaryOperator::divide && *right->constant() > 0)
      return *left->constant() / *right->constant();
    if (half->op == BinaryOperator::shift_right && *right->constant() < 31)
      return *left->constant() >> *right->constant();
    return std::nullopt;
  }

  // 2 for doubling, -2 for halving, 0 for anything else.
  int step_amount(const Assignment& step) const {
    using Op = AssignmentOperator;
    if (step.op == Op::add) return source::is_named(step.value, stride_) ? 2 : 0;
    if (const auto operation = source::operation_of(step.op))
      return amount_of(*operation, step.value);
    const auto* value = as<Binary>(step.value);
    if (value == nullptr || !source::is_named(value->left, stride_)) return 0;
    return amount_of(value->op, value->right);
  }

  static int amount_of(BinaryOperator op, const ExprPtr& by) {
    const bool by_two = source::is_number(by, 2);
    const bool by_one_place = source::is_number(by, 1);
    if (op == BinaryOperator::multiply) return by_two ? 2 : 0;
    if (op == BinaryOperator::shift_left) return by_one_place ? 2 : 0;
    if (op == BinaryOperator::divide) return by_two ? -2 : 0;
    if (op == BinaryOperator::shift_right) return by_one_place ? -2 : 0;
    return 0;
  }

  // sh[i] op= sh[i + s], or sh[i] = f(sh[i], sh[i + s]).
  Result<ReductionTree> match_update(const Assignment& update, const std::string& where) {
    ReductionTree tree;
    tree.analysis = &analysis_;
    const auto* target = as<Subscript>(update.target);
    const auto* base = source::base_variable(*update.target);
    const source::Variable* array = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (target == nullptr || array == nullptr || array->storage != source::Storage::shared ||
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
    const auto* partner = source::base_variable(**other);
    if (read == nullptr || partner == nullptr || partner->name != tree.array) {
      return refuse(where + "its update reads more than the array itself");
    }
    const auto own_index = polynomial(target->index);
    const auto read_index = polynomial(read->index);
    if (!own_index || !read_index || !(*read_index - *own_index == Polynomial::symbol(stride_))) {
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
      if (!source::equal(call->arguments[0], update.target)) {
        return refuse(where + "its update does not combine an element with its partner");
      }
      return call->arguments[1];
    }
    const auto* operation = is_plain ? as<Binary>(update.value) : nullptr;
    const auto op = operation != nullptr ? source::compound(operation->op) : std::nullopt;
    if (is_tree_operator(op) && source::equal(operation->left, update.target)) {
      tree.op = *op;
      return operation->right;
    }
    return refuse(where + "its operator is not one of + * & | ^ max min");
  }

  bool guard_matches(const ExprPtr& guard) const {
    const auto* comparison = as<Binary>(guard);
    if (comparison == nullptr) return false;
    const Polynomial thread = *thread_index();
    const Polynomial stride = Polynomial::symbol(stride_);
    const bool owns_thread = index_ == thread;
    const bool is_less = comparison->op == BinaryOperator::less;
    const auto left = polynomial(comparison->left);
    const auto right = polynomial(comparison->right);
    if (order_ == Order::halving) {
      return owns_thread && is_less && left && right && *left == thread && *right == stride;
    }
    if (owns_thread) {
      // t % (2 * s) == 0
      const auto* modulo = source::as_binary(comparison->left, BinaryOperator::remainder);
      if (comparison->op != BinaryOperator::equal || !right || right->constant() != 0 ||
          modulo == nullptr) {
        return false;
      }
      const auto dividend = polynomial(modulo->left);
      const auto divisor = polynomial(modulo->right);
      return dividend && divisor && *dividend == thread && *divisor == Polynomial(2) * stride;
    }
    // index = 2 * s * t; index < blockDim.x
    return index_ == Polynomial(2) * stride * thread && is_less && left && right &&
           *left == index_ && right->constant() == block_.x;
  }

  bool is_own_slot(const ExprPtr& target, const std::string& array) const {
    const auto* access = as<Subscript>(target);
    const auto* base = access != nullptr ? source::base_variable(*target) : nullptr;
    if (base == nullptr || base->name != array) return false;
    const auto index = polynomial(access->index);
    return index && *index == *thread_index();
  }

  Status only_first_is_read_after(std::size_t position, const std::string& array) const {
    bool beyond_first = false;
    const Block rest(kernel_.body.begin() + static_cast<std::ptrdiff_t>(position) + 1,
                     kernel_.body.end());
    std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
      if (!expr) return;
      if (source::is_named(expr, array)) beyond_first = true;
      const auto* access = as<Subscript>(expr);
      const auto* base = source::base_variable(*expr);
      if (access != nullptr && base != nullptr && base->name == array) {
        const auto index = polynomial(access->index);
        if (!index || index->constant() != 0) beyond_first = true;
        return;
      }
      source::for_each_operand(*expr, check);
    };
    for (const StmtPtr& later : rest) {
      // What all threads put there anew is no result of the tree.
      const auto* store = as<Assignment>(later);
      if (store != nullptr && store->op == AssignmentOperator::assign &&
          is_own_slot(store->target, array)) {
        check(store->value);
        break;
      }
      source::walk(Block{later}, [&](const Stmt& stmt) {
        check(target_of(stmt));
        check(value_of(stmt));
      });
    }
    if (beyond_first) return refuse("partial results of '" + array + "' are used after the tree");
    return {};
  }

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  Dim3 block_;
  std::string stride_;
  Order order_ = Order::none;
  Polynomial index_;
};

}  // namespace

bool ReductionTree::is_own_slot(const ExprPtr& target) const {
  const auto* access = as<Subscript>(target);
  const auto* base = source::base_variable(*target);
  if (access == nullptr || base == nullptr || base->name != array) return false;
  const auto index = analysis->polynomial(access->index);
  return index && *index == *thread_index();
}

Result<ReductionTree> match_reduction_tree(const source::Kernel& kernel,
                                           const source::Analysis& analysis, std::size_t position,
                                           const Dim3& block) {
  return Matcher(kernel, analysis, block).match(position);
}

}  // namespace regraph::rewrite
