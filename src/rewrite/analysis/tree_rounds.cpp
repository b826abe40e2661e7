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

bool is_own_slot(const ExprPtr& target, const std::string& array, const Analysis& analysis,
                 const Dim3& block) {
  const auto* access = as<Subscript>(target);
  const auto* base = access != nullptr ? base_variable(*target) : nullptr;
  if (base == nullptr || base->name != array) return false;
  const auto index = analysis.polynomial(access->index);
  return index && with_block_extents(*index, block) == Polynomial::symbol(kThread);
}

}  // namespace

Status TreeRounds::read(const StmtPtr& stmt) {
  const auto* loop = as<ForLoop>(stmt);
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

Status TreeRounds::require_guard(const Polynomial& index) const {
  if (guard_matches(index)) return {};
  return refuse(where_ + "its guard does not select the threads of a tree");
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

Status only_first_is_read_after(const Block& body, std::size_t position, const std::string& array,
                                const Analysis& analysis, const Dim3& block) {
  bool beyond_first = false;
  const Block rest(body.begin() + static_cast<std::ptrdiff_t>(position) + 1, body.end());
  std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
    if (!expr) return;
    if (is_named(expr, array)) beyond_first = true;
    const auto* access = as<Subscript>(expr);
    const auto* base = base_variable(*expr);
    if (access != nullptr && base != nullptr && base->name == array) {
      const auto index = analysis.polynomial(access->index);
      if (!index || with_block_extents(*index, block).constant() != 0) beyond_first = true;
      return;
    }
    for_each_operand(*expr, check);
  };
  for (const StmtPtr& later : rest) {
    // What all threads put there anew is no result of the tree.
    const auto* store = as<Assignment>(later);
    if (store != nullptr && store->op == AssignmentOperator::assign &&
        is_own_slot(store->target, array, analysis, block)) {
      check(store->value);
      break;
    }
    walk(Block{later}, [&](const Stmt& stmt) {
      check(target_of(stmt));
      check(value_of(stmt));
    });
  }
  if (beyond_first) return refuse("partial results of '" + array + "' are used after the tree");
  return {};
}

}  // namespace regraph::rewrite
