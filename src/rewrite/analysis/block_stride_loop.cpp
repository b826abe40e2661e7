#include "rewrite/analysis/block_stride_loop.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

class DealtLoopFinder {
 public:
  DealtLoopFinder(const Analysis& analysis, const BlockRow& row) : analysis_(analysis), row_(row) {}

  // for (c = threadIdx.x + first; c < limit; c += blockDim.x)
  std::optional<BlockStrideLoop> by_threads(const ForLoop& loop) const {
    const auto strided = source::strided_loop_of(loop);
    if (!strided || !strided->counter.scalar) return std::nullopt;
    const auto first = row_.polynomial(strided->first);
    const auto along = first ? first->coefficient(kPlaceInRow) : std::nullopt;
    if (!along || !(*along == Polynomial(1))) return std::nullopt;
    const auto stride = row_.polynomial(strided->step);
    if (!stride || stride->constant() != static_cast<std::int64_t>(row_.threads()))
      return std::nullopt;
    return narrowed({strided->counter, to_expression(first->without({kPlaceInRow})), strided->limit,
                     loop.body});
  }

  // for (round = 0; round < cdiv(n, blockDim.x); ++round) {
  //   c = round * blockDim.x + threadIdx.x;  if (c < n) ...
  std::optional<BlockStrideLoop> in_rounds(const ForLoop& loop) const {
    const auto counted = counted_loop_of(loop);
    const auto* place = loop.body.size() == 2 ? as<Declaration>(loop.body[0]) : nullptr;
    const auto* guard = place != nullptr ? as<Branch>(loop.body[1]) : nullptr;
    const auto* bound = guard != nullptr ? as<Binary>(guard->condition) : nullptr;
    if (!counted || !counted->starts_at_zero() || counted->stride != 1 || bound == nullptr ||
        !place->value || !guard->otherwise.empty() || bound->op != BinaryOperator::less ||
        !is_named(bound->left, place->variable.name) || !place->variable.scalar) {
      return std::nullopt;
    }
    const std::string& name = place->variable.name;
    const auto index = row_.polynomial(place->value);
    const Polynomial expected = Polynomial(row_.threads()) * Polynomial::symbol(counted->name) +
                                Polynomial::symbol(kPlaceInRow);
    if (!index || !(*index == expected) || !analysis_.is_single_definition(name) ||
        variables_of(bound->right).contains(counted->name) ||
        !covers(counted->limit, bound->right)) {
      return std::nullopt;
    }
    if (is_mentioned(guard->body, counted->name)) return std::nullopt;
    Variable counter = place->variable;
    counter.is_const = false;
    return narrowed({counter, integer(0), bound->right, guard->body});
  }

 private:
  // Whether so many rounds reach the limit: (limit + T - 1) / T.
  bool covers(const ExprPtr& rounds, const ExprPtr& limit) const {
    const auto* name = as<VariableReference>(rounds);
    const ExprPtr definition = name != nullptr ? analysis_.definition(name->name) : nullptr;
    const auto* quotient = as_binary(definition ? definition : rounds, BinaryOperator::divide);
    if (quotient == nullptr) return false;
    const auto divisor = row_.polynomial(quotient->right);
    const auto dividend = row_.polynomial(quotient->left);
    const auto length = row_.polynomial(limit);
    if (!divisor || !dividend || !length) return false;
    const std::int64_t threads = row_.threads();
    return divisor->constant() == threads && *dividend - *length == Polynomial(threads - 1);
  }

  // With a 32-bit counter, where that reaches all that there is.
  std::optional<BlockStrideLoop> narrowed(BlockStrideLoop loop) const {
    const ScalarType type = *loop.counter.scalar;
    if (type == ScalarType::i32 || type == ScalarType::u32) return loop;
    if (type != ScalarType::i64 && type != ScalarType::u64) return std::nullopt;
    ExprPtr limit = loop.limit;
    for (int depth = 0; depth < 4 && limit; ++depth) {
      const auto* name = as<VariableReference>(limit);
      const ExprPtr definition = name != nullptr ? analysis_.definition(name->name) : nullptr;
      if (const auto* converted = as<Cast>(limit)) {
        limit = converted->operand;
      } else if (definition && limit->type != ScalarType::i32) {
        limit = definition;
      } else {
        break;
      }
    }
    if (!limit || limit->type != ScalarType::i32) return std::nullopt;
    const std::string& name = loop.counter.name;
    loop.limit = limit;
    loop.body = rewrite_expressions(
        loop.body,
        replace_variable(name, cast(loop.counter.type, variable(name, ScalarType::i32))));
    loop.counter = local_variable(name, std::string(cuda_name(ScalarType::i32)), ScalarType::i32);
    return loop;
  }

  const Analysis& analysis_;
  const BlockRow& row_;
};

constexpr const char* kThreadsInRow = "blockDim.x";

class BlockStrideLoopsOnly {
 public:
  BlockStrideLoopsOnly(const Analysis& analysis, const BlockRow& row)
      : analysis_(analysis), row_(row) {}

  bool deals(const Block& block) {
    return std::ranges::all_of(block, [&](const StmtPtr& stmt) { return visit(*stmt); });
  }
  [[nodiscard]] bool found_any() const { return found_; }

 private:
  bool visit(const Stmt& stmt) {
    // What every thread does once for itself is done by more or fewer of them.
    if (!once_ && !in_loop_ && counts_threads(stmt)) return false;
    if (const auto* declared = as<Declaration>(stmt);
        declared != nullptr && declared->value && asks(declared->value) &&
        analysis_.is_single_definition(declared->variable.name)) {
      places_.insert(declared->variable.name);
      return !counts_threads(stmt);
    }
    if (const auto* loop = as<ForLoop>(stmt); loop != nullptr && !in_loop_ && !once_) {
      const auto dealt = block_stride_loop(*loop, analysis_, row_);
      if (dealt && loop->step && asks_for_extent(loop->step)) {
        found_ = true;
        in_loop_ = true;
        const bool fits =
            !asks(dealt->limit) && !asks(dealt->first) && !keeps_values(*loop) && deals(loop->body);
        in_loop_ = false;
        return fits;
      }
    }
    if (const auto* choice = as<Branch>(stmt)) return visit_branch(*choice);
    bool plain = true;
    walk_own_expressions(stmt, [&](const Expr& expr) { plain = plain && !is_place(expr); });
    return plain && deals(body_of(stmt)) && deals(otherwise_of(stmt));
  }

  bool visit_branch(const Branch& choice) {
    std::vector<ExprPtr> others = conjuncts(choice.condition);
    // Which iterations the first thread has follows from how many threads there are.
    const bool is_once =
        !in_loop_ && choice.otherwise.empty() &&
        std::erase_if(others, [&](const ExprPtr& term) { return row_.is_first_thread(term); }) > 0;
    const bool asked = std::ranges::any_of(others, [&](const ExprPtr& term) { return asks(term); });
    const bool before = std::exchange(once_, once_ || is_once);
    const bool fits = !asked && deals(choice.body) && deals(choice.otherwise);
    once_ = before;
    return fits;
  }

  // Whether the statement itself holds a call that does something, as an atomic operation does.
  static bool counts_threads(const Stmt& stmt) {
    return any_own_expression(stmt, [&](const Expr& expr) {
      const auto* call = as<Call>(expr);
      return call != nullptr && !is_pure(*call);
    });
  }

  [[nodiscard]] bool is_place(const Expr& expr) const {
    const auto* name = as<VariableReference>(expr);
    return is_builtin(expr, kPlaceInRow) || is_builtin(expr, kThreadsInRow) ||
           (name != nullptr && places_.contains(name->name));
  }

  [[nodiscard]] bool asks(const ExprPtr& expr) const {
    return any_expression(expr, [&](const Expr& part) { return is_place(part); });
  }

  static bool asks_for_extent(const StmtPtr& step) {
    return any_expression(Block{step},
                          [](const Expr& part) { return is_builtin(part, kThreadsInRow); });
  }

  // Whether an iteration sets a variable that it did not declare.
  [[nodiscard]] bool keeps_values(const ForLoop& loop) const {
    const auto own = declared_names(loop.body);
    return any_statement(loop.body, [&](const Stmt& stmt) {
      const auto target = target_of(stmt);
      const auto* base = target ? base_variable(*target) : nullptr;
      if (base == nullptr || own.contains(base->name)) return false;
      const Variable* local = analysis_.local(base->name);
      return !is<Subscript>(target) || (local != nullptr && !local->is_pointer);
    });
  }

  const Analysis& analysis_;
  const BlockRow& row_;
  std::set<std::string> places_;  // variables that follow the thread
  bool found_ = false;
  bool in_loop_ = false;  // one that is shared out
  bool once_ = false;     // in what the first thread does alone
};

}  // namespace

std::optional<BlockStrideLoop> block_stride_loop(const ForLoop& loop, const Analysis& analysis,
                                                 const BlockRow& row) {
  const DealtLoopFinder finder(analysis, row);
  auto dealt = finder.by_threads(loop);
  return dealt ? dealt : finder.in_rounds(loop);
}

bool only_block_strides(const Block& body, const Analysis& analysis, const BlockRow& row) {
  BlockStrideLoopsOnly loops(analysis, row);
  return loops.deals(body) && loops.found_any();
}

}  // namespace regraph::rewrite
