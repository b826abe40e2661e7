#include "rewrite/analysis/reduction_tree.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <set>

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

StmtPtr ReductionTree::combine(const ExprPtr& target, const ExprPtr& other) const {
  if (function.empty()) return source::assign(target, op, other);
  return source::assign(target, "=", source::call(function, {target, other}));
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
    const Stmt& loop = *kernel_.body[position];
    if (loop.kind != StmtKind::loop || !loop.init || !loop.step || !loop.value) {
      return refuse("no loop");
    }
    const std::string where = "loop at line " + std::to_string(loop.line) + ": ";
    order_ = order_of(loop);
    if (order_ == Order::none)
      return refuse(where + "its stride neither halves nor doubles over the block");
    Block body = loop.body;
    if (body.empty() || body.back()->kind != StmtKind::barrier) {
      return refuse(where + "no barrier at the end of a round");
    }
    body.pop_back();
    // `int index = 2 * s * t;` may stand before the condition.
    ExprPtr index_definition;
    std::string index_name;
    if (body.size() == 2 && body[0]->kind == StmtKind::declare && body[0]->value) {
      index_name = body[0]->variable.name;
      index_definition = body[0]->value;
      body.erase(body.begin());
    }
    if (body.size() != 1 || body[0]->kind != StmtKind::branch || !body[0]->otherwise.empty() ||
        body[0]->body.size() != 1 || body[0]->body[0]->kind != StmtKind::assign) {
      return refuse(where + "a round is not a single guarded update");
    }
    auto tree = match_update(*body[0]->body[0], where);
    if (!tree) return tree;
    if (!guard_matches(body[0]->value, index_name)) {
      return refuse(where + "its guard does not select the threads of a tree");
    }
    if (Status status = only_first_is_read_after(position, tree->array); !status)
      return status.error();
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

  Order order_of(const Stmt& loop) {
    const std::string name =
        loop.init->kind == StmtKind::declare
            ? loop.init->variable.name
            : (loop.init->target->kind == ExprKind::variable ? loop.init->target->text : "");
    if (name.empty() || !loop.init->value) return Order::none;
    stride_ = name;
    const Stmt& step = *loop.step;
    if (step.target->kind != ExprKind::variable || step.target->text != name) return Order::none;
    const Expr& condition = *loop.value;
    if (condition.kind != ExprKind::binary) return Order::none;
    const auto first = start_of(loop.init->value);
    const auto limit = polynomial(condition.operands[1]);
    const bool on_stride =
        condition.operands[0]->kind == ExprKind::variable && condition.operands[0]->text == name;
    if (!first || !limit || !on_stride) return Order::none;
    const auto amount = step_amount(step);
    if (amount == 2 && *first == 1 && condition.text == "<" && limit->constant() == block_.x) {
      return Order::doubling;
    }
    const bool to_zero = (condition.text == ">" && limit->constant() == 0) ||
                         (condition.text == ">=" && limit->constant() == 1) ||
                         (condition.text == "!=" && limit->constant() == 0);
    if (amount == -2 && *first == block_.x / 2 && to_zero) return Order::halving;
    return Order::none;
  }

  // The loop's first stride as a number.
  std::optional<std::int64_t> start_of(const ExprPtr& expr) const {
    if (const auto value = polynomial(expr)) return value->constant();
    // blockDim.x / 2, blockDim.x >> 1
    if (expr->kind != ExprKind::binary) return std::nullopt;
    const auto left = polynomial(expr->operands[0]);
    const auto right = polynomial(expr->operands[1]);
    if (!left || !right || !left->constant() || !right->constant()) return std::nullopt;
    if (expr->text == "/" && *right->constant() > 0) return *left->constant() / *right->constant();
    if (expr->text == ">>" && *right->constant() < 31)
      return *left->constant() >> *right->constant();
    return std::nullopt;
  }

  // 2 for doubling, -2 for halving, 0 for anything else.
  int step_amount(const Stmt& step) const {
    const auto literal = [](const ExprPtr& expr, std::int64_t value) {
      return expr->kind == ExprKind::integer && expr->number == value;
    };
    const auto stride = [this](const ExprPtr& expr) {
      return expr->kind == ExprKind::variable && expr->text == stride_;
    };
    if ((step.text == "*=" && literal(step.value, 2)) ||
        (step.text == "<<=" && literal(step.value, 1)) ||
        (step.text == "+=" && stride(step.value))) {
      return 2;
    }
    if ((step.text == "/=" && literal(step.value, 2)) ||
        (step.text == ">>=" && literal(step.value, 1))) {
      return -2;
    }
    if (step.text != "=" || step.value->kind != ExprKind::binary ||
        !stride(step.value->operands[0]))
      return 0;
    const std::string& op = step.value->text;
    const ExprPtr& amount = step.value->operands[1];
    if ((op == "*" && literal(amount, 2)) || (op == "<<" && literal(amount, 1))) return 2;
    if ((op == "/" && literal(amount, 2)) || (op == ">>" && literal(amount, 1))) return -2;
    return 0;
  }

  // sh[i] op= sh[i + s], or sh[i] = f(sh[i], sh[i + s]).
  Result<ReductionTree> match_update(const Stmt& update, const std::string& where) {
    static const std::set<std::string> kOperators = {"+=", "*=", "&=", "|=", "^="};
    static const std::set<std::string> kFunctions = {"max",   "min",  "fmaxf",
                                                     "fminf", "fmax", "fmin"};
    ReductionTree tree;
    tree.analysis = &analysis_;
    const Expr* base = source::base_variable(*update.target);
    const source::Variable* array = base != nullptr ? analysis_.local(base->text) : nullptr;
    if (update.target->kind != ExprKind::index || array == nullptr ||
        array->storage != source::Storage::shared || array->extents.size() != 1 || !array->scalar) {
      return refuse(where + "it does not update a one-dimensional shared array");
    }
    if (array->extents[0] < static_cast<std::int64_t>(block_.x)) {
      return refuse(where + "the shared array is shorter than the block");
    }
    tree.array = array->name;
    tree.type = array->type;
    tree.scalar = *array->scalar;
    ExprPtr other;
    if (kOperators.contains(update.text)) {
      tree.op = update.text;
      other = update.value;
    } else if (update.text == "=" && update.value->kind == ExprKind::call &&
               kFunctions.contains(update.value->text) && update.value->operands.size() == 2) {
      tree.function = update.value->text;
      if (!source::equal(update.value->operands[0], update.target)) {
        return refuse(where + "its update does not combine an element with its partner");
      }
      other = update.value->operands[1];
    } else if (update.text == "=" && update.value->kind == ExprKind::binary &&
               kOperators.contains(update.value->text + "=") &&
               source::equal(update.value->operands[0], update.target)) {
      tree.op = update.value->text + "=";
      other = update.value->operands[1];
    } else {
      return refuse(where + "its operator is not one of + * & | ^ max min");
    }
    const Expr* partner = source::base_variable(*other);
    if (other->kind != ExprKind::index || partner == nullptr || partner->text != tree.array) {
      return refuse(where + "its update reads more than the array itself");
    }
    const auto own = polynomial(update.target->operands[1]);
    const auto read = polynomial(other->operands[1]);
    if (!own || !read || !(*read - *own == Polynomial::symbol(stride_))) {
      return refuse(where + "the partner is not one stride away");
    }
    index_ = *own;
    return tree;
  }

  bool guard_matches(const ExprPtr& guard, const std::string&) const {
    if (guard->kind != ExprKind::binary) return false;
    const Polynomial thread = *thread_index();
    const Polynomial stride = Polynomial::symbol(stride_);
    const bool owns_thread = index_ == thread;
    if (order_ == Order::halving) {
      if (!owns_thread || guard->text != "<") return false;
      const auto left = polynomial(guard->operands[0]);
      const auto right = polynomial(guard->operands[1]);
      return left && right && *left == thread && *right == stride;
    }
    if (owns_thread) {
      // t % (2 * s) == 0
      if (guard->text != "==") return false;
      const ExprPtr& remainder = guard->operands[0];
      const auto zero = polynomial(guard->operands[1]);
      if (!zero || zero->constant() != 0 || remainder->kind != ExprKind::binary ||
          remainder->text != "%") {
        return false;
      }
      const auto left = polynomial(remainder->operands[0]);
      const auto right = polynomial(remainder->operands[1]);
      return left && right && *left == thread && *right == Polynomial(2) * stride;
    }
    // index = 2 * s * t; index < blockDim.x
    if (!(index_ == Polynomial(2) * stride * thread) || guard->text != "<") return false;
    const auto left = polynomial(guard->operands[0]);
    const auto right = polynomial(guard->operands[1]);
    return left && right && *left == index_ && right->constant() == block_.x;
  }

  Status only_first_is_read_after(std::size_t position, const std::string& array) const {
    bool beyond_first = false;
    const Block rest(kernel_.body.begin() + static_cast<std::ptrdiff_t>(position) + 1,
                     kernel_.body.end());
    std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
      if (!expr) return;
      if (expr->kind == ExprKind::variable && expr->text == array) beyond_first = true;
      const Expr* base = source::base_variable(*expr);
      if (expr->kind == ExprKind::index && base != nullptr && base->text == array) {
        const auto index = polynomial(expr->operands[1]);
        if (!index || index->constant() != 0) beyond_first = true;
        return;
      }
      for (const ExprPtr& operand : expr->operands)
        check(operand);
    };
    source::walk(rest, [&](const Stmt& stmt) {
      check(stmt.target);
      check(stmt.value);
    });
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
  const Expr* base = source::base_variable(*target);
  if (target->kind != ExprKind::index || base == nullptr || base->text != array) return false;
  const auto index = analysis->polynomial(target->operands[1]);
  return index && *index == *thread_index();
}

Result<ReductionTree> match_reduction_tree(const source::Kernel& kernel,
                                           const source::Analysis& analysis, std::size_t position,
                                           const Dim3& block) {
  return Matcher(kernel, analysis, block).match(position);
}

}  // namespace regraph::rewrite
