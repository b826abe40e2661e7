#include "rewrite/transform/raised_rows.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/pair_tree.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/reduction_tree.h"
#include "rewrite/transform/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::Cast;
using source::Declaration;
using source::Evaluation;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;
using source::to;
using source::VariableReference;

namespace {

constexpr const char* kThread = "threadIdx.x";
// Rows a block, where it may be any number.
constexpr std::uint32_t kRaisedBlock = 64;

// The value of a literal, converted or not.
std::optional<double> number_of(const ExprPtr& expr) {
  if (const auto* converted = as<Cast>(expr)) return number_of(converted->operand);
  if (const auto* integer = as<source::IntegerLiteral>(expr))
    return static_cast<double>(integer->value);
  if (const auto* floating = as<source::FloatingLiteral>(expr)) {
    char* end = nullptr;
    const double value = std::strtod(floating->spelling.c_str(), &end);
    return end != floating->spelling.c_str() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

// A loop of which each thread of the block does every so manieth iteration.
struct DealtLoop {
  source::Variable counter;
  ExprPtr first;
  ExprPtr limit;
  Block body;
};

class RowRaiser {
 public:
  RowRaiser(const KernelForm& form, const Dim3& block)
      : kernel_(form.kernel), analysis_(form.analysis), block_(block), names_(form.kernel) {}

  // The body in terms of the block's index.
  Result<Block> raise() {
    Block out;
    if (Status status = visit(kernel_.body, out); !status) return status.error();
    if (loops_ == 0) return refuse("no loop is dealt out to the threads of a block");
    Block result = shared_scalars_;
    result.insert(result.end(), out.begin(), out.end());
    return result;
  }

  [[nodiscard]] const std::vector<Reduction>& reductions() const { return reductions_; }

 private:
  static std::string where(const Stmt& stmt) {
    return stmt.line > 0 ? "line " + std::to_string(stmt.line) + ": " : "";
  }

  Status visit(const Block& block, Block& out) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto* store = as<Assignment>(block[i]);
      if (i + 1 < block.size() && store != nullptr && is_own_slot(*store->target) &&
          is<Assignment>(block[i + 1]) && is_own_slot(*to<Assignment>(block[i + 1]).target)) {
        if (Status status = take_pair_tree(block, i, out); !status) return status;
        i += 3;
        continue;
      }
      if (store != nullptr && is_own_slot(*store->target)) {
        if (Status status = take_tree(block, i, out); !status) return status;
        i += 2;
        continue;
      }
      if (Status status = visit(block[i], out); !status) return status;
    }
    return {};
  }

  Status visit(const StmtPtr& stmt, Block& out) {
    switch (stmt->kind()) {
      case StmtKind::barrier:
        return {};
      case StmtKind::declaration:
        return declaration(stmt, out);
      case StmtKind::assignment:
        return assignment(stmt, out);
      case StmtKind::branch:
        return branch(to<Branch>(stmt), out);
      case StmtKind::scope: {
        Block inner;
        if (Status status = visit(body_of(*stmt), inner); !status) return status;
        out.push_back(source::scope(std::move(inner)));
        return {};
      }
      case StmtKind::for_loop:
        return loop(stmt, out);
      case StmtKind::evaluation: {
        if (!once_) return refuse(where(*stmt) + "every thread of a block calls it for its effect");
        auto value = uniform(value_of(*stmt), *stmt);
        if (!value) return value.error();
        out.push_back(source::evaluate(std::move(*value)));
        return {};
      }
      default:
        return refuse(where(*stmt) + "a jump, a while loop or a statement without a form");
    }
  }

  Status declaration(const StmtPtr& stmt, Block& out) {
    const auto& declared = to<Declaration>(stmt);
    const source::Variable& variable = declared.variable;
    if (variable.storage != source::Storage::automatic) {
      if (!variable.extents.empty()) return {};
      // One value for the block, written by one of its threads.
      source::Variable own = variable;
      own.storage = source::Storage::automatic;
      shared_scalars_.push_back(source::declare(own, nullptr));
      block_scalars_.insert(variable.name);
      return {};
    }
    if (!declared.value) {
      out.push_back(stmt);
      return {};
    }
    const bool is_single = analysis_.is_single_definition(variable.name);
    if (is_single && asks_for_thread(declared.value)) {
      threads_.insert(variable.name);
      return {};
    }
    const auto* part = as<VariableReference>(declared.value);
    if (is_single && part != nullptr && partial_.contains(part->name)) {
      partial_.emplace(variable.name, partial_.at(part->name));
      out.push_back(stmt);
      return {};
    }
    auto value = uniform(declared.value, *stmt);
    if (!value) return value.error();
    note_number(variable.name, *value);
    out.push_back(source::declare(variable, *value));
    return {};
  }

  Status assignment(const StmtPtr& stmt, Block& out) {
    const auto& assigned = to<Assignment>(stmt);
    auto value = uniform(assigned.value, *stmt);
    if (!value) return value.error();
    const bool replaces = assigned.op == AssignmentOperator::assign;
    if (const auto* target = as<VariableReference>(assigned.target)) {
      const bool is_shared = block_scalars_.contains(target->name);
      if (is_shared && !once_ && !replaces)
        return refuse(where(*stmt) + "every thread of a block changes '" + target->name + "'");
      if (!is_shared && once_ && !once_declared_.contains(target->name)) {
        return refuse(where(*stmt) + "one thread alone sets '" + target->name + "'");
      }
      if (partial_.contains(target->name)) {
        if (!replaces) {
          return refuse(where(*stmt) + "'" + target->name +
                        "' is used before the threads' parts are put together");
        }
        partial_.erase(target->name);
      }
      note_number(target->name, replaces ? *value : nullptr);
      out.push_back(source::assign(assigned.target, assigned.op, *value));
      return {};
    }
    if (!replaces && !once_)
      return refuse(where(*stmt) + "every thread of a block updates an element");
    auto target = uniform(assigned.target, *stmt);
    if (!target) return target.error();
    out.push_back(source::assign(std::move(*target), assigned.op, std::move(*value)));
    return {};
  }

  Status branch(const Branch& choice, Block& out) {
    const bool is_first = is_first_thread(choice.condition) && !once_;
    if (is_first && choice.otherwise.empty()) {
      once_ = true;
      once_declared_ = source::declared_names(choice.body);
      Status status = visit(choice.body, out_of_scope(out));
      once_ = false;
      close_scope(out);
      return status;
    }
    auto condition = uniform(choice.condition, choice);
    if (!condition) return condition.error();
    const std::map<std::string, std::string> totals = totals_;
    const std::map<std::string, Reduction> parts = partial_;
    const std::map<std::string, double> numbers = numbers_;
    Block body;
    if (Status status = visit(choice.body, body); !status) return status;
    forget_changed(totals);
    std::map<std::string, Reduction> parts_here = std::exchange(partial_, parts);
    numbers_ = numbers;
    Block otherwise;
    if (Status status = visit(choice.otherwise, otherwise); !status) return status;
    forget_changed(totals);
    // What may be a part is taken for one.
    partial_.insert(parts.begin(), parts.end());
    partial_.merge(parts_here);
    numbers_.clear();
    out.push_back(source::branch(*condition, std::move(body), std::move(otherwise), choice.line));
    return {};
  }

  // What the first thread does keeps the names that it declares to itself.
  Block& out_of_scope(Block&) {
    scope_.clear();
    return scope_;
  }
  void close_scope(Block& out) {
    const bool declares = !source::declared_names(scope_).empty();
    if (declares) {
      out.push_back(source::scope(std::move(scope_)));
    } else {
      out.insert(out.end(), scope_.begin(), scope_.end());
    }
    scope_.clear();
  }

  // Totals that were taken inside a branch are known there only.
  void forget_changed(const std::map<std::string, std::string>& before) {
    std::erase_if(totals_, [&](const auto& entry) {
      const auto known = before.find(entry.first);
      return known == before.end() || known->second != entry.second;
    });
  }

  Status loop(const StmtPtr& stmt, Block& out) {
    const auto& original = to<ForLoop>(stmt);
    auto dealt = dealt_loop(original);
    if (!dealt) dealt = rounds_loop(original);
    if (!dealt) return uniform_loop(stmt, out);
    if (once_) return refuse(where(*stmt) + "one thread alone shares out a loop");
    auto first = uniform(dealt->first, *stmt);
    if (!first) return first.error();
    auto limit = uniform(dealt->limit, *stmt);
    if (!limit) return limit.error();
    auto raised = std::make_shared<ForLoop>(
        source::declare(dealt->counter, *first),
        source::less(source::variable(dealt->counter.name, dealt->counter.scalar), *limit),
        source::assign(source::variable(dealt->counter.name, dealt->counter.scalar),
                       AssignmentOperator::add, source::integer(1)),
        dealt->body);
    raised->line = original.line;
    auto effects = effects_of(*raised, analysis_);
    if (!effects) return effects.error();
    std::set<std::string> updated;
    for (const Selection& selection : effects->selections) {
      if (Status status = note_choice(selection, dealt->counter.name, *stmt); !status)
        return status;
      for (const Selection::Carried& carried : selection.carried())
        updated.insert(carried.variable);
    }
    for (const Reduction& reduction : effects->reductions) {
      if (Status status = note_part(reduction, *stmt); !status) return status;
      updated.insert(reduction.variable);
    }
    auto body = uniform_block(raised->body, updated, *stmt);
    if (!body) return body.error();
    raised->body = std::move(*body);
    ++loops_;
    out.push_back(std::move(raised));
    return {};
  }

  // Of each thread the accumulator holds a part from now on.
  Status note_part(const Reduction& reduction, const Stmt& stmt) {
    const std::string& name = reduction.variable;
    const auto known = partial_.find(name);
    if (chosen_.contains(name))
      return refuse(where(stmt) + "'" + name + "' is updated by different operations");
    if (known != partial_.end()) {
      if (known->second.same_operation(reduction)) return {};
      return refuse(where(stmt) + "'" + name + "' is updated by different operations");
    }
    const ExprPtr neutral = reduction.neutral();
    const auto start = numbers_.find(name);
    if (neutral && (start == numbers_.end() || start->second != number_of(neutral))) {
      return refuse(where(stmt) + "what '" + name +
                    "' begins with is counted once for each thread of the block");
    }
    partial_.emplace(name, reduction);
    reductions_.push_back(reduction);
    numbers_.erase(name);
    return {};
  }

  // Of each thread the pair holds the best of a part from now on. A part may begin with what all
  // threads begin with: of equal pairs it does not matter which one stays.
  Status note_choice(const Selection& selection, const std::string& counter, const Stmt& stmt) {
    const std::string& name = selection.value.variable;
    const auto known = choices_.find(name);
    if (selection.followers.size() != 1 ||
        !(selection.tie || (known == choices_.end() && keeps_first(selection, counter)))) {
      return refuse(where(stmt) + "which of equal values '" + name +
                    "' keeps is not told by what is kept with it");
    }
    if (known != choices_.end() && !known->second.same_operation(selection))
      return refuse(where(stmt) + "'" + name + "' is updated by different operations");
    choices_.insert_or_assign(name, selection);
    for (const Selection::Carried& carried : selection.carried()) {
      Reduction part;
      part.variable = carried.variable;
      part.type = carried.type;
      part.scalar = carried.scalar;
      partial_.insert_or_assign(carried.variable, part);
      chosen_.insert(carried.variable);
      numbers_.erase(carried.variable);
    }
    return {};
  }

  // Whether the place is the loop's counter, so that of equal values the smallest place stays.
  static bool keeps_first(const Selection& selection, const std::string& counter) {
    if (selection.takes_equal || selection.updates.size() != 1) return false;
    ExprPtr place = selection.updates.front().followers.front();
    const auto type = selection.followers.front().scalar;
    if (type != ScalarType::i32 && type != ScalarType::u32 && type != ScalarType::i64) return false;
    while (const auto* converted = as<Cast>(place))
      place = converted->operand;
    return source::is_named(place, counter);
  }

  // for (c = threadIdx.x + first; c < limit; c += blockDim.x)
  std::optional<DealtLoop> dealt_loop(const ForLoop& loop) const {
    const Declaration* counter = loop.declaration();
    const auto* condition = as<Binary>(loop.condition);
    const Assignment* advance = loop.advance();
    if (counter == nullptr || !counter->value || condition == nullptr || advance == nullptr ||
        condition->op != BinaryOperator::less) {
      return std::nullopt;
    }
    const std::string& name = counter->variable.name;
    const bool counts = source::is_named(condition->left, name) &&
                        source::is_named(advance->target, name) && counter->variable.scalar;
    if (!counts) return std::nullopt;
    const auto first = polynomial(counter->value);
    const auto along = first ? first->coefficient(kThread) : std::nullopt;
    if (!along || !(*along == Polynomial(1))) return std::nullopt;
    ExprPtr by = advance->op == AssignmentOperator::add ? advance->value : nullptr;
    if (advance->op == AssignmentOperator::assign) {
      const auto* sum = source::as_binary(advance->value, BinaryOperator::add);
      if (sum != nullptr && source::is_named(sum->left, name)) by = sum->right;
    }
    const auto stride = by ? polynomial(by) : std::nullopt;
    if (!stride || stride->constant() != static_cast<std::int64_t>(block_.x)) return std::nullopt;
    return narrowed({counter->variable, source::to_expression(first->without({kThread})),
                     condition->right, loop.body});
  }

  // for (round = 0; round < cdiv(n, blockDim.x); ++round) {
  //   c = round * blockDim.x + threadIdx.x;  if (c < n) ...
  std::optional<DealtLoop> rounds_loop(const ForLoop& loop) const {
    const auto counted = source::counted_loop_of(loop);
    const auto* place = loop.body.size() == 2 ? as<Declaration>(loop.body[0]) : nullptr;
    const auto* guard = place != nullptr ? as<Branch>(loop.body[1]) : nullptr;
    const auto* bound = guard != nullptr ? as<Binary>(guard->condition) : nullptr;
    if (!counted || !counted->starts_at_zero() || counted->stride != 1 || bound == nullptr ||
        !place->value || !guard->otherwise.empty() || bound->op != BinaryOperator::less ||
        !source::is_named(bound->left, place->variable.name) || !place->variable.scalar) {
      return std::nullopt;
    }
    const std::string& name = place->variable.name;
    const auto index = polynomial(place->value);
    const Polynomial expected =
        Polynomial(block_.x) * Polynomial::symbol(counted->name) + Polynomial::symbol(kThread);
    if (!index || !(*index == expected) || !analysis_.is_single_definition(name) ||
        source::variables_of(bound->right).contains(counted->name) ||
        !covers(counted->limit, bound->right)) {
      return std::nullopt;
    }
    bool uses_round = false;
    source::walk_expressions(guard->body, [&](const Expr& expr) {
      uses_round = uses_round || source::is_named(expr, counted->name);
    });
    if (uses_round) return std::nullopt;
    source::Variable counter = place->variable;
    counter.is_const = false;
    return narrowed({counter, source::integer(0), bound->right, guard->body});
  }

  // Whether so many rounds reach the limit: (limit + T - 1) / T.
  bool covers(const ExprPtr& rounds, const ExprPtr& limit) const {
    const auto* name = as<VariableReference>(rounds);
    const ExprPtr definition = name != nullptr ? analysis_.definition(name->name) : nullptr;
    const auto* quotient =
        source::as_binary(definition ? definition : rounds, BinaryOperator::divide);
    if (quotient == nullptr) return false;
    const auto divisor = polynomial(quotient->right);
    const auto dividend = polynomial(quotient->left);
    const auto length = polynomial(limit);
    if (!divisor || !dividend || !length) return false;
    const std::int64_t threads = block_.x;
    return divisor->constant() == threads && *dividend - *length == Polynomial(threads - 1);
  }

  // With a 32-bit counter, where that reaches all that there is.
  std::optional<DealtLoop> narrowed(DealtLoop loop) const {
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
    loop.body = source::rewrite_expressions(
        loop.body,
        source::replace_variable(
            name, source::cast(loop.counter.type, source::variable(name, ScalarType::i32))));
    loop.counter =
        source::local_variable(name, std::string(cuda_name(ScalarType::i32)), ScalarType::i32);
    return loop;
  }

  // A loop that all threads do alike.
  Status uniform_loop(const StmtPtr& stmt, Block& out) {
    bool is_local = true;
    source::walk(Block{stmt}, [&](const Stmt& inner) {
      const bool is_known = is<ForLoop>(inner) || is<Branch>(inner) || is<Declaration>(inner) ||
                            is<Assignment>(inner) || is<source::Scope>(inner);
      const auto* assigned = as<Assignment>(inner);
      const bool is_variable = assigned == nullptr || is<VariableReference>(assigned->target) ||
                               analysis_.local(base_name(*assigned->target)) != nullptr;
      is_local = is_local && is_known && is_variable;
    });
    if (!is_local)
      return refuse(where(*stmt) + "a loop of the whole block, which waits, stores or jumps");
    if (once_) return refuse(where(*stmt) + "a loop of one thread");
    auto block = uniform_block(Block{stmt}, {}, *stmt);
    if (!block) return block.error();
    numbers_.clear();
    out.insert(out.end(), block->begin(), block->end());
    return {};
  }

  static std::string base_name(const Expr& place) {
    const auto* base = source::base_variable(place);
    return base != nullptr ? base->name : "";
  }

  // sh[threadIdx.x] = part; barrier; a tree over sh.
  Status take_tree(const Block& block, std::size_t position, Block& out) {
    const auto& store = to<Assignment>(block[position]);
    const std::string array = base_name(*store.target);
    const auto* part = as<VariableReference>(store.value);
    const auto known = part != nullptr ? partial_.find(part->name) : partial_.end();
    if (store.op != AssignmentOperator::assign || known == partial_.end() ||
        chosen_.contains(known->second.variable)) {
      return refuse(where(store) + "what a thread puts into '" + array +
                    "' is not what it has added up");
    }
    if (once_ || position + 2 >= block.size() || !is<source::Barrier>(block[position + 1]))
      return refuse(where(store) + "no tree follows what is put into '" + array + "'");
    source::Kernel around = kernel_;
    around.body = block;
    auto tree = match_reduction_tree(around, analysis_, position + 2, block_);
    if (!tree) return tree.error();
    if (tree->array != array || !is_same_operation(*tree, known->second)) {
      return refuse(where(store) + "the tree does not go on as '" + part->name + "' was added up");
    }
    const std::string total = names_.fresh(part->name + "_total");
    out.push_back(source::declare(source::local_variable(total, tree->type, tree->scalar),
                                  source::variable(part->name, part->type)));
    totals_[array] = total;
    return {};
  }

  // values[threadIdx.x] = best; places[threadIdx.x] = place; barrier; a tree over both.
  Status take_pair_tree(const Block& block, std::size_t position, Block& out) {
    const auto& first = to<Assignment>(block[position]);
    const auto& second = to<Assignment>(block[position + 1]);
    const bool is_followed =
        position + 3 < block.size() && is<source::Barrier>(block[position + 2]) && !once_;
    if (!is_followed)
      return refuse(where(first) + "no tree follows what is put into shared memory");
    source::Kernel around = kernel_;
    around.body = block;
    const auto tree = match_pair_tree(around, analysis_, position + 3, block_);
    if (!tree) return tree.error();
    const bool in_order = base_name(*first.target) == tree->values->name;
    const Assignment& value = in_order ? first : second;
    const Assignment& place = in_order ? second : first;
    const auto* best = as<VariableReference>(value.value);
    const auto* with = as<VariableReference>(place.value);
    const auto choice = best != nullptr ? choices_.find(best->name) : choices_.end();
    const bool is_part =
        choice != choices_.end() && with != nullptr && value.op == AssignmentOperator::assign &&
        place.op == AssignmentOperator::assign && partial_.contains(best->name) &&
        partial_.contains(with->name) && with->name == choice->second.followers.front().variable &&
        base_name(*value.target) == tree->values->name &&
        base_name(*place.target) == tree->places->name;
    if (!is_part) {
      return refuse(where(first) + "what a thread puts into '" + tree->values->name + "' and '" +
                    tree->places->name + "' is not the pair that it has chosen");
    }
    const Selection& selection = choice->second;
    if (selection.relation != tree->relation ||
        selection.tie.value_or(BinaryOperator::less) != tree->tie ||
        selection.value.scalar != tree->values->scalar ||
        selection.followers.front().scalar != tree->places->scalar) {
      return refuse(where(first) + "the tree does not go on as '" + best->name + "' was chosen");
    }
    for (const auto& [array, part] :
         {std::pair(tree->values, best), std::pair(tree->places, with)}) {
      const std::string total = names_.fresh(part->name + "_total");
      out.push_back(source::declare(source::local_variable(total, array->type, *array->scalar),
                                    source::variable(part->name, part->type)));
      totals_[array->name] = total;
    }
    return {};
  }

  static bool is_same_operation(const ReductionTree& tree, const Reduction& reduction) {
    const std::set<std::string> largest = {"max", "fmaxf", "fmax"};
    const std::set<std::string> smallest = {"min", "fminf", "fmin"};
    switch (reduction.kind) {
      case Reduction::Kind::compound:
        return tree.function.empty() && tree.op == reduction.op;
      case Reduction::Kind::function:
        return tree.function == reduction.function;
      case Reduction::Kind::comparison:
        return (reduction.relation == BinaryOperator::greater ? largest : smallest)
            .contains(tree.function);
    }
    return false;
  }

  std::optional<Polynomial> polynomial(const ExprPtr& expr) const {
    const auto result = analysis_.polynomial(expr);
    return result ? std::optional(with_block_extents(*result, block_)) : std::nullopt;
  }

  bool is_own_slot(const Expr& target) const {
    const auto* element = as<source::Subscript>(target);
    const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
    if (base == nullptr || !analysis_.is_shared(base->name)) return false;
    const auto index = polynomial(element->index);
    return index && *index == Polynomial::symbol(kThread);
  }

  // threadIdx.x == 0
  bool is_first_thread(const ExprPtr& condition) const {
    const auto* comparison = as<Binary>(condition);
    if (comparison == nullptr) {
      const auto* nothing = source::as_unary(condition, source::UnaryOperator::logical_not);
      const auto place = nothing != nullptr ? polynomial(nothing->operand) : std::nullopt;
      return place && *place == Polynomial::symbol(kThread);
    }
    const auto left = polynomial(comparison->left);
    const auto right = polynomial(comparison->right);
    if (!left || !right || !(*left == Polynomial::symbol(kThread))) return false;
    return (comparison->op == BinaryOperator::equal && right->constant() == 0) ||
           (comparison->op == BinaryOperator::less && right->constant() == 1);
  }

  bool asks_for_thread(const ExprPtr& expr) const {
    bool asks = false;
    source::walk(expr, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      asks = asks || source::is_builtin(node, kThread) ||
             (name != nullptr && threads_.contains(name->name));
    });
    return asks;
  }

  // The value of something that is the same for all threads of the block; the totals of trees stand
  // for the places where the trees left them. `updated`: parts that may be named all the same.
  Result<ExprPtr> uniform(const ExprPtr& expr, const Stmt& stmt,
                          const std::set<std::string>& updated = {}) const {
    const ExprPtr result =
        source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
          const auto* element = as<source::Subscript>(node);
          const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
          const auto total = base != nullptr ? totals_.find(base->name) : totals_.end();
          if (total == totals_.end()) return std::nullopt;
          const auto index = polynomial(element->index);
          if (!index || index->constant() != 0) return std::nullopt;
          return source::variable(total->second, node->type);
        });
    std::string obstacle;
    source::walk(result, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      if (source::is_builtin(node, kThread) || (name != nullptr && threads_.contains(name->name)))
        obstacle = "the place of a thread in the block decides more than its part of a loop";
      if (name == nullptr) return;
      if (partial_.contains(name->name) && !updated.contains(name->name)) {
        obstacle = "'" + name->name + "' is used before the threads' parts are put together";
      }
      if (analysis_.is_shared(name->name) && !block_scalars_.contains(name->name))
        obstacle = "'" + name->name + "' is used for more than a tree's result";
    });
    if (!obstacle.empty()) return refuse(where(stmt) + obstacle);
    return result;
  }

  // The same of all that the statements hold.
  Result<Block> uniform_block(const Block& block, const std::set<std::string>& updated,
                              const Stmt& stmt) const {
    std::optional<Error> obstacle;
    Block result =
        source::rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          auto value = uniform(expr, stmt, updated);
          if (value) return *value;
          obstacle = value.error();
          return expr;
        });
    if (obstacle) return *obstacle;
    return result;
  }

  void note_number(const std::string& name, const ExprPtr& value) {
    numbers_.erase(name);
    if (!value) return;
    if (const auto number = number_of(value)) numbers_[name] = *number;
  }

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  Dim3 block_;
  Names names_;
  int loops_ = 0;                             // dealt out
  bool once_ = false;                         // in what the first thread does
  std::set<std::string> once_declared_;       // there
  Block scope_;                               // there
  Block shared_scalars_;                      // their declarations
  std::set<std::string> block_scalars_;       // shared variables that are no arrays
  std::set<std::string> threads_;             // what follows the thread's place
  std::map<std::string, Reduction> partial_;  // of which each thread has a part
  // Values of which each thread has chosen one of a part, and all names that belong to them. Once
  // there, a choice stays the only one of its name.
  std::map<std::string, Selection> choices_;
  std::set<std::string> chosen_;
  std::map<std::string, std::string> totals_;  // by shared array
  std::map<std::string, double> numbers_;      // what variables hold
  std::vector<Reduction> reductions_;
};

Status require_block_a_row(const KernelAnalysis& kernel, const Launch& launch) {
  if (const Status& status = kernel.transparent(); !status) return status;
  const source::Analysis& analysis = kernel.analysis();
  if (!analysis.unknown_calls().empty()) {
    return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                  "', which may write memory");
  }
  if (analysis.uses_warp_intrinsics()) return refuse("the lanes of a warp work together already");
  if (launch.block.y != 1 || launch.block.z != 1) return refuse("the block has more than one axis");
  if (launch.block.x == 1) return refuse("a block is one thread");
  if (!analysis.uses_builtin("blockIdx.x") || analysis.uses_builtin("gridDim.x"))
    return refuse("the kernel does not give each block of the grid a row of its own");
  return {};
}

}  // namespace

Result<KernelState> raised_rows(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  if (Status status = require_block_a_row(kernel, **launch); !status) return status.error();
  auto form = kernel.single_exit();
  if (!form) return form.error();
  RowRaiser raiser(**form, (*launch)->block);
  auto body = raiser.raise();
  if (!body) return body.error();
  if (Status status = permit_reordering(raiser.reductions(), kernel.problem()); !status)
    return status.error();

  KernelState result = kernel.state();
  if (any_rounds(raiser.reductions())) rely_on(result, kReordersSums);
  const std::int64_t threads = (*launch)->block.x;
  const std::string name = source::fresh_name((*form)->kernel, "row");
  const ExprPtr row = source::variable(name, ScalarType::u32);
  Block rows =
      source::rewrite_expressions(*body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        if (source::is_builtin(*expr, "blockIdx.x")) return row;
        if (source::is_builtin(*expr, "blockDim.x")) return source::integer(threads);
        return std::nullopt;
      });
  source::Variable index =
      source::local_variable(name, std::string(cuda_name(ScalarType::u32)), ScalarType::u32);
  index.is_const = true;
  const StmtPtr declared = source::declare(
      index,
      source::add(source::multiply(source::builtin("blockIdx.x"), source::builtin("blockDim.x")),
                  source::builtin(kThread)));
  Launch& made = result.plan.launches.front();
  made.grid[0] = (*launch)->grid[0].substitute({{"bx", IntegerExpression(threads)}});
  const ExprPtr extent = grid_extent(made, 0, (*form)->kernel);
  made.block = {extent ? kRaisedBlock : 1, 1, 1};
  if (extent) {
    made.grid[0] = IntegerExpression::ceil_divide(made.grid[0], IntegerExpression::symbol("bx"));
    rows = {source::branch(source::less(row, extent), std::move(rows))};
  }
  rows.insert(rows.begin(), declared);
  result.unit.kernel.body = std::move(rows);
  if (result.unit.kernel.launch_bounds_threads) {
    result.unit.kernel.launch_bounds_threads = static_cast<int>(made.block.x);
    result.unit.kernel.launch_bounds_min_blocks.reset();
  }
  kernel.note_reliance(result);
  return result;
}

}  // namespace regraph::rewrite
