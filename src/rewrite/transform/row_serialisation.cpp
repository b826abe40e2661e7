#include "rewrite/transform/row_serialisation.h"

#include "affine/varying.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/block_stride_loop.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/separate_trees.h"
#include "rewrite/forms/uses.h"
#include "rewrite/forms/vector_components.h"
#include "rewrite/transform/exchanges_as_trees.h"
#include "rewrite/transform/row_launch.h"
#include "rewrite/transform/row_parts.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Names of names: const float total = sum; is sum.

class CopyPropagation {
 public:
  explicit CopyPropagation(const Kernel& kernel) : analysis_(kernel) {}

  Block run(Block block) const {
    for (std::size_t at = 0; at < block.size();) {
      const auto* copied = copy_of(block[at]);
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      if (copied == nullptr ||
          changes(rest, copied->name, to<Declaration>(block[at]).variable.name)) {
        const StmtPtr& stmt = block[at];
        if (!body_of(*stmt).empty() || !otherwise_of(*stmt).empty())
          block[at] = with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
        ++at;
        continue;
      }
      const std::string name = source::to<Declaration>(block[at]).variable.name;
      const ExprPtr value = source::to<Declaration>(block[at]).value;
      Block renamed = rewrite_expressions(rest, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        return is_named(expr, name) ? std::optional(value) : std::nullopt;
      });
      block.resize(at);
      block.insert(block.end(), renamed.begin(), renamed.end());
    }
    return block;
  }

 private:
  // The variable that the statement declares another name of; null for anything else.
  const VariableReference* copy_of(const StmtPtr& stmt) const {
    const auto* declared = as<Declaration>(stmt);
    const auto* from = declared != nullptr ? as<VariableReference>(declared->value) : nullptr;
    if (from == nullptr) return nullptr;
    const Variable& variable = declared->variable;
    const bool is_scalar = variable.storage == Storage::automatic && variable.scalar &&
                           variable.extents.empty() && !variable.is_pointer;
    const Variable* other = analysis_.local(from->name);
    const bool fits = is_scalar && other != nullptr && other->scalar == variable.scalar &&
                      other->extents.empty() && !other->is_pointer &&
                      other->storage == Storage::automatic;
    return fits && analysis_.is_single_definition(variable.name) ? from : nullptr;
  }

  // Whether the variable changes where its copy is still used. What the copy is last used for may
  // be the variable's own next value: const float a = sum; sum = a + b.
  static bool changes(const Block& block, const std::string& name, const std::string& copy) {
    for (std::size_t at = 0; at < block.size(); ++at) {
      const auto* assigned = as<Assignment>(block[at]);
      const bool is_last =
          assigned != nullptr && is_named(assigned->target, name) &&
          !is_mentioned(Block(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end()),
                        copy);
      if (is_last) return false;
      if (changes({block[at]}, name)) return true;
    }
    return false;
  }

  static bool changes(const Block& block, const std::string& name) {
    bool found = false;
    walk(block, [&](const Stmt& stmt) {
      found = found || is_named(target_of(stmt), name);
      const auto* declared = as<Declaration>(stmt);
      found = found || (declared != nullptr && declared->variable.name == name);
    });
    walk_expressions(block, [&](const Expr& expr) {
      for_each_passed_place(expr,
                            [&](const Expr& place) { found = found || is_named(place, name); });
    });
    return found;
  }

  const Analysis analysis_;
};

// The kernel's body without declarations of scalars that are copies of another variable of the same
// type, where neither changes behind them: uses mean the other one.
Block with_copies_propagated(const Kernel& kernel) {
  return CopyPropagation(kernel).run(kernel.body);
}

bool is_builtin_number(ExprPtr expr, const char* name) {
  while (const auto* converted = as<Cast>(expr))
    expr = converted->operand;
  return is_builtin(*expr, name);
}

// The statement as a loop in which the blocks of the grid take rows in turn; null for
// others.
const ForLoop* loop_of_grid(const Stmt& stmt) {
  const auto* loop = as<ForLoop>(stmt);
  const auto* counter = loop != nullptr ? loop->declaration() : nullptr;
  const auto* going = counter != nullptr ? as<Binary>(loop->condition) : nullptr;
  const auto* step = going != nullptr && loop->step ? as<Assignment>(loop->step) : nullptr;
  if (step == nullptr || !counter->value) return nullptr;
  const std::string& name = counter->variable.name;
  const bool fits = is_builtin_number(counter->value, "blockIdx.x") &&
                    going->op == BinaryOperator::less && is_named(going->left, name) &&
                    step->op == AssignmentOperator::add && is_named(step->target, name) &&
                    is_builtin_number(step->value, "gridDim.x") &&
                    !changed_names(loop->body).contains(name);
  return fits ? loop : nullptr;
}

// for (row = blockIdx.x; row < rows; row += gridDim.x) ...   ->   row = blockIdx.x; ...
//
// where the grid has a block for each row: every block has one round. The kernel's own statements
// alone are looked at.
Block with_a_row_a_block(const KernelForm& form, const Launch& launch) {
  const ExprPtr extent = grid_extent(launch, 0, form.kernel);
  const auto blocks = extent ? form.analysis.polynomial(extent) : std::nullopt;
  Block result;
  for (const StmtPtr& stmt : form.kernel.body) {
    const ForLoop* loop = loop_of_grid(*stmt);
    const auto limit = loop != nullptr ? form.analysis.polynomial(to<Binary>(loop->condition).right)
                                       : std::nullopt;
    if (!blocks || !limit || !(*limit == *blocks)) {
      result.push_back(stmt);
      continue;
    }
    Variable row = loop->declaration()->variable;
    row.is_const = true;
    result.push_back(declare(row, loop->declaration()->value));
    result.insert(result.end(), loop->body.begin(), loop->body.end());
  }
  return result;
}

class RowRaiser {
 public:
  RowRaiser(const KernelForm& form, const Dim3& block)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        row_(form.analysis, block),
        parts_(form.kernel, form.analysis, block) {}

  // The body in terms of the block's index.
  Result<Block> raise() {
    Block out;
    if (Status status = visit(kernel_.body, out); !status) return status.error();
    if (loops_ == 0) return refuse("no loop is dealt out to the threads of a block");
    Block result = shared_scalars_;
    result.insert(result.end(), out.begin(), out.end());
    return result;
  }

  [[nodiscard]] const std::vector<Reduction>& reductions() const { return parts_.reductions(); }

 private:
  Status visit(const Block& block, Block& out) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto* store = as<Assignment>(block[i]);
      if (store != nullptr && row_.is_own_slot(*store->target)) {
        if (once_)
          return refuse(line_named(*store) + "one thread alone puts something into a tree");
        const bool is_pair = i + 1 < block.size() && is<Assignment>(block[i + 1]) &&
                             row_.is_own_slot(*to<Assignment>(block[i + 1]).target);
        Status status =
            is_pair ? parts_.take_pair_tree(block, i, out) : parts_.take_tree(block, i, out);
        if (!status) return status;
        i += is_pair ? 3 : 2;
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
        if (!once_)
          return refuse(line_named(*stmt) + "every thread of a block calls it for its effect");
        auto value = uniform(value_of(*stmt), *stmt);
        if (!value) return value.error();
        out.push_back(evaluate(std::move(*value)));
        return {};
      }
      default:
        return refuse(line_named(*stmt) + "a jump, a while loop or a statement without a form");
    }
  }

  Status declaration(const StmtPtr& stmt, Block& out) {
    const auto& declared = to<Declaration>(stmt);
    const Variable& variable = declared.variable;
    if (variable.storage != Storage::automatic) {
      if (!variable.extents.empty()) return {};
      // One value for the block, written by one of its threads.
      Variable own = variable;
      own.storage = Storage::automatic;
      shared_scalars_.push_back(declare(own, nullptr));
      block_scalars_.insert(variable.name);
      return {};
    }
    if (!declared.value) {
      out.push_back(stmt);
      return {};
    }
    const bool is_single = analysis_.is_single_definition(variable.name);
    if (is_single && is_varying(declared.value, kPlaceInRow, threads_)) {
      threads_.insert(variable.name);
      return {};
    }
    const auto* part = as<VariableReference>(declared.value);
    if (is_single && part != nullptr && parts_.is_part(part->name)) {
      parts_.name_part(part->name, variable.name);
      out.push_back(stmt);
      return {};
    }
    auto value = uniform(declared.value, *stmt);
    if (!value) return value.error();
    parts_.note_number(variable.name, *value);
    out.push_back(declare(variable, *value));
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
        return refuse(line_named(*stmt) + "every thread of a block changes '" + target->name + "'");
      if (!is_shared && once_ && !once_declared_.contains(target->name)) {
        return refuse(line_named(*stmt) + "one thread alone sets '" + target->name + "'");
      }
      if (parts_.is_part(target->name)) {
        if (!replaces) {
          return refuse(line_named(*stmt) + "'" + target->name +
                        "' is used before the threads' parts are put together");
        }
        parts_.forget_part(target->name);
      }
      parts_.note_number(target->name, replaces ? *value : nullptr);
      out.push_back(source::assign(assigned.target, assigned.op, *value));
      return {};
    }
    if (!replaces && !once_)
      return refuse(line_named(*stmt) + "every thread of a block updates an element");
    auto target = uniform(assigned.target, *stmt);
    if (!target) return target.error();
    out.push_back(source::assign(std::move(*target), assigned.op, std::move(*value)));
    return {};
  }

  Status branch(const Branch& choice, Block& out) {
    std::vector<ExprPtr> others = conjuncts(choice.condition);
    const auto is_first = std::ranges::find_if(
        others, [&](const ExprPtr& term) { return row_.is_first_thread(term); });
    if (is_first != others.end() && !once_ && choice.otherwise.empty()) {
      others.erase(is_first);
      const Block alone =
          others.empty() ? choice.body
                         : Block{source::branch(conjunction(others), choice.body, {}, choice.line)};
      once_ = true;
      once_declared_ = declared_names(choice.body);
      Block inner;
      Status status = visit(alone, inner);
      once_ = false;
      // What the first thread does keeps the names that it declares to itself.
      if (!declared_names(inner).empty()) inner = {source::scope(std::move(inner))};
      out.insert(out.end(), inner.begin(), inner.end());
      return status;
    }
    auto condition = uniform(choice.condition, choice);
    if (!condition) return condition.error();
    const RowParts::Known before = parts_.known();
    Block body;
    if (Status status = visit(choice.body, body); !status) return status;
    const RowParts::Known side = parts_.known();
    parts_.start_otherwise(before);
    Block otherwise;
    if (Status status = visit(choice.otherwise, otherwise); !status) return status;
    parts_.join(before, side);
    out.push_back(source::branch(*condition, std::move(body), std::move(otherwise), choice.line));
    return {};
  }

  Status loop(const StmtPtr& stmt, Block& out) {
    const auto& original = to<ForLoop>(stmt);
    auto dealt = block_stride_loop(original, analysis_, row_);
    if (!dealt) return uniform_loop(stmt, out);
    if (once_) return refuse(line_named(*stmt) + "one thread alone shares out a loop");
    auto first = uniform(dealt->first, *stmt);
    if (!first) return first.error();
    auto limit = uniform(dealt->limit, *stmt);
    if (!limit) return limit.error();
    auto raised = std::make_shared<ForLoop>(
        declare(dealt->counter, *first),
        less(source::variable(dealt->counter.name, dealt->counter.scalar), *limit),
        source::assign(source::variable(dealt->counter.name, dealt->counter.scalar),
                       AssignmentOperator::add, integer(1)),
        dealt->body);
    raised->line = original.line;
    auto effects = effects_of(*raised, analysis_);
    if (!effects) return effects.error();
    std::set<std::string> updated;
    for (const Selection& selection : effects->selections) {
      if (Status status = parts_.note_choice(selection, dealt->counter.name, *stmt); !status)
        return status;
      for (const CarriedScalar& carried : selection.carried())
        updated.insert(carried.variable);
    }
    for (const Reduction& reduction : effects->reductions) {
      if (Status status = parts_.note_part(reduction, *stmt); !status) return status;
      updated.insert(reduction.variable);
    }
    auto body = uniform_block(raised->body, updated, *stmt);
    if (!body) return body.error();
    raised->body = std::move(*body);
    ++loops_;
    out.push_back(std::move(raised));
    return {};
  }

  // A loop that all threads do alike.
  Status uniform_loop(const StmtPtr& stmt, Block& out) {
    const bool is_of_block = any_statement({stmt}, [&](const Stmt& inner) {
      if (const auto* assigned = as<Assignment>(inner)) {
        return !is<VariableReference>(assigned->target) &&
               analysis_.local(base_name(*assigned->target)) == nullptr;
      }
      return !is<ForLoop>(inner) && !is<Branch>(inner) && !is<Declaration>(inner) &&
             !is<Scope>(inner);
    });
    if (is_of_block)
      return refuse(line_named(*stmt) + "a loop of the whole block, which waits, stores or jumps");
    if (once_) return refuse(line_named(*stmt) + "a loop of one thread");
    auto block = uniform_block(Block{stmt}, {}, *stmt);
    if (!block) return block.error();
    parts_.forget_numbers();
    out.insert(out.end(), block->begin(), block->end());
    return {};
  }

  // The value of something that is the same for all threads of the block; the totals of trees stand
  // for the places where the trees left them. `updated`: parts that may be named all the same.
  Result<ExprPtr> uniform(const ExprPtr& expr, const Stmt& stmt,
                          const std::set<std::string>& updated = {}) const {
    const ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const ExprPtr total = total_at(node, parts_.known().totals, row_);
      return total ? std::optional(total) : std::nullopt;
    });
    std::string obstacle;
    if (is_varying(result, kPlaceInRow, threads_))
      obstacle = "the place of a thread in the block decides more than its part of a loop";
    walk(result, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      if (name == nullptr) return;
      if (parts_.is_part(name->name) && !updated.contains(name->name)) {
        obstacle = "'" + name->name + "' is used before the threads' parts are put together";
      }
      if (analysis_.is_shared(name->name) && !block_scalars_.contains(name->name))
        obstacle = "'" + name->name + "' is used for more than a tree's result";
    });
    if (!obstacle.empty()) return refuse(line_named(stmt) + obstacle);
    return result;
  }

  // The same of all that the statements hold.
  Result<Block> uniform_block(const Block& block, const std::set<std::string>& updated,
                              const Stmt& stmt) const {
    std::optional<Error> obstacle;
    Block result = rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      auto value = uniform(expr, stmt, updated);
      if (value) return *value;
      obstacle = value.error();
      return expr;
    });
    if (obstacle) return *obstacle;
    return result;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  BlockRow row_;
  RowParts parts_;
  int loops_ = 0;                        // dealt out
  bool once_ = false;                    // in what the first thread does
  std::set<std::string> once_declared_;  // there
  Block shared_scalars_;                 // their declarations
  std::set<std::string> block_scalars_;  // shared variables that are no arrays
  std::set<std::string> threads_;        // what follows the thread's place
};

}  // namespace

Result<KernelState> serialise_rows(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto single = kernel.single_exit();
  if (!single) return single.error();
  const KernelForm* form = *single;
  std::optional<KernelForm> alone;
  if (Block body = with_a_row_a_block(*form, **launch); body != form->kernel.body) {
    Kernel of_row = form->kernel;
    of_row.body = std::move(body);
    form = &alone.emplace(std::move(of_row));
  }
  std::optional<KernelForm> apart;
  if (Block body = with_vector_components(form->kernel); body != form->kernel.body) {
    Kernel components = form->kernel;
    components.body = std::move(body);
    components.body = with_copies_propagated(components);
    form = &apart.emplace(std::move(components));
  }
  std::optional<KernelForm> trees;
  if (auto written = with_exchanges_as_trees(*form, (*launch)->block))
    form = &trees.emplace(std::move(*written));
  std::optional<KernelForm> separate;
  if (auto fissioned = with_separate_trees(form->kernel))
    form = &separate.emplace(std::move(*fissioned));
  if (Status status = require_block_a_row(kernel, *form, **launch); !status) return status.error();
  RowRaiser raiser(*form, (*launch)->block);
  auto body = raiser.raise();
  if (!body) return body.error();
  if (Status status = permit_reordering(raiser.reductions(), kernel.problem()); !status)
    return status.error();
  Kernel raised = form->kernel;
  raised.body = std::move(*body);
  KernelState result = with_thread_a_row(kernel, *form, with_copies_propagated(raised));
  if (any_rounds(raiser.reductions())) rely_on(result, kReordersSums);
  return result;
}

}  // namespace regraph::rewrite
