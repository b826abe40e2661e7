#include "rewrite/analysis/tree_rounds.h"

#include "affine/block_geometry.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <functional>

namespace regraph::rewrite {

namespace {

constexpr const char* kThread = "threadIdx.x";

}  // namespace

Status TreeRounds::read(std::size_t position) {
  position_ = position;
  const auto* loop = as<ForLoop>(body_[position]);
  if (loop == nullptr || !loop->init || loop->advance() == nullptr || !loop->condition)
    return refuse("no loop");
  where_ = "loop at line " + std::to_string(loop->line) + ": ";
  order_ = order_of(*loop);
  if (order_ == Order::none)
    return refuse(where_ + "its stride neither halves nor doubles over the block");
  Block body = loop->body;
  if (body.empty() || !is<Barrier>(body.back())) {
    return refuse(where_ + "no barrier at the end of a round");
  }
  body.pop_back();
  // `int index = 2 * s * t;` may stand before the condition.
  const auto* index = body.size() == 2 ? as<Declaration>(body[0]) : nullptr;
  if (index != nullptr && index->value) body.erase(body.begin());
  const auto* guarded = body.size() == 1 ? as<Branch>(body[0]) : nullptr;
  if (guarded == nullptr || !guarded->otherwise.empty())
    return refuse(where_ + "a round is not a single guarded update");
  guard_ = guarded->condition;
  update_ = guarded->body;
  return {};
}

std::optional<SharedElement> TreeRounds::element(const ExprPtr& place) const {
  const auto* access = as<Subscript>(place);
  const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
  const Variable* array = base != nullptr ? analysis_.local(base->name) : nullptr;
  const auto index = access != nullptr ? polynomial(access->index) : std::nullopt;
  if (array == nullptr || !index || array->storage != Storage::shared ||
      array->extents.size() != 1 || !array->scalar) {
    return std::nullopt;
  }
  return SharedElement{array, *index};
}

Status TreeRounds::require_tree(const SharedElement& own, const SharedElement& partner) const {
  const Variable& array = *own.array;
  if ((block_.x & (block_.x - 1)) != 0) {
    return refuse(where_ + "a tree over a block whose threads are no power of two leaves some out");
  }
  if (array.extents[0] < static_cast<std::int64_t>(block_.x))
    return refuse(where_ + "the shared array is shorter than the block");
  if (analysis_.is_viewed(array.name))
    return refuse(where_ + "the shared array is accessed as another type too");
  if (partner.array != own.array)
    return refuse(where_ + "its update reads more than the array itself");
  if (!(partner.index - own.index == Polynomial::symbol(stride_)))
    return refuse(where_ + "the partner is not one stride away");
  if (!guard_matches(own.index))
    return refuse(where_ + "its guard does not select the threads of a tree");
  if (reads_beyond_first(array.name))
    return refuse("partial results of '" + array.name + "' are used after the tree");
  return {};
}

// Meaning of names inside the loop: the stride is a symbol of its own.
std::optional<Polynomial> TreeRounds::polynomial(const ExprPtr& expr) const {
  const auto meaning = [this](const std::string& name) -> std::optional<Polynomial> {
    if (name == stride_) return Polynomial::symbol(name);
    const ExprPtr definition = analysis_.definition(name);
    if (definition) return polynomial(definition);
    return analysis_.meaning()(name);
  };
  const auto result = to_polynomial(expr, meaning);
  return result ? std::optional(with_block_extents(*result, block_)) : std::nullopt;
}

TreeRounds::Order TreeRounds::order_of(const ForLoop& loop) {
  const auto* counter = as<VariableReference>(target_of(*loop.init));
  const std::string name = loop.declaration() != nullptr ? loop.declaration()->variable.name
                           : counter != nullptr          ? counter->name
                                                         : "";
  if (name.empty() || !value_of(*loop.init)) return Order::none;
  stride_ = name;
  const Assignment& step = *loop.advance();
  const auto* condition = as<Binary>(loop.condition);
  if (!is_named(step.target, name) || condition == nullptr || !is_named(condition->left, name)) {
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
  const bool to_zero = (condition->op == BinaryOperator::greater && limit->constant() == 0) ||
                       (condition->op == BinaryOperator::greater_equal && limit->constant() == 1) ||
                       (condition->op == BinaryOperator::not_equal && limit->constant() == 0);
  if (amount == -2 && *first == block_.x / 2 && to_zero) return Order::halving;
  return Order::none;
}

// The loop's first stride as a number.
std::optional<std::int64_t> TreeRounds::start_of(const ExprPtr& expr) const {
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
int TreeRounds::step_amount(const Assignment& step) const {
  using Op = AssignmentOperator;
  if (step.op == Op::add) return is_named(step.value, stride_) ? 2 : 0;
  if (const auto operation = operation_of(step.op)) return amount_of(*operation, step.value);
  const auto* value = as<Binary>(step.value);
  if (value == nullptr || !is_named(value->left, stride_)) return 0;
  return amount_of(value->op, value->right);
}

int TreeRounds::amount_of(BinaryOperator op, const ExprPtr& by) {
  const bool by_two = is_number(by, 2);
  const bool by_one_place = is_number(by, 1);
  if (op == BinaryOperator::multiply) return by_two ? 2 : 0;
  if (op == BinaryOperator::shift_left) return by_one_place ? 2 : 0;
  if (op == BinaryOperator::divide) return by_two ? -2 : 0;
  if (op == BinaryOperator::shift_right) return by_one_place ? -2 : 0;
  return 0;
}

bool TreeRounds::guard_matches(const Polynomial& index) const {
  const auto* comparison = as<Binary>(guard_);
  if (comparison == nullptr) return false;
  const Polynomial thread = Polynomial::symbol(kThread);
  const Polynomial stride = Polynomial::symbol(stride_);
  const bool owns_thread = index == thread;
  const bool is_less = comparison->op == BinaryOperator::less;
  const auto left = polynomial(comparison->left);
  const auto right = polynomial(comparison->right);
  if (order_ == Order::halving) {
    return owns_thread && is_less && left && right && *left == thread && *right == stride;
  }
  if (owns_thread) {
    // t % (2 * s) == 0
    const auto* modulo = as_binary(comparison->left, BinaryOperator::remainder);
    if (comparison->op != BinaryOperator::equal || !right || right->constant() != 0 ||
        modulo == nullptr) {
      return false;
    }
    const auto dividend = polynomial(modulo->left);
    const auto divisor = polynomial(modulo->right);
    return dividend && divisor && *dividend == thread && *divisor == Polynomial(2) * stride;
  }
  // index = 2 * s * t; index < blockDim.x
  return index == Polynomial(2) * stride * thread && is_less && left && right && *left == index &&
         right->constant() == block_.x;
}

bool TreeRounds::reads_beyond_first(const std::string& array) const {
  bool beyond_first = false;
  std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
    if (!expr) return;
    if (is_named(expr, array)) beyond_first = true;
    const auto* access = as<Subscript>(expr);
    if (access != nullptr && base_name(*expr) == array) {
      const auto index = row_.polynomial(access->index);
      if (!index || index->constant() != 0) beyond_first = true;
      return;
    }
    for_each_operand(*expr, check);
  };
  for (std::size_t behind = position_ + 1; behind < body_.size(); ++behind) {
    // What all threads put there anew is no result of the tree.
    const auto* store = as<Assignment>(body_[behind]);
    if (store != nullptr && store->op == AssignmentOperator::assign &&
        base_name(*store->target) == array && row_.is_own_slot(*store->target)) {
      check(store->value);
      break;
    }
    walk(Block{body_[behind]}, [&](const Stmt& stmt) {
      check(target_of(stmt));
      check(value_of(stmt));
    });
  }
  return beyond_first;
}

}  // namespace regraph::rewrite
