#include "rewrite/forms/normal_form.h"

#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/forwarded_loads.h"
#include "rewrite/forms/guarded_reads.h"
#include "rewrite/forms/if_conversion.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/named_conditions.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::Block;
using source::Branch;
using source::Builtin;
using source::Call;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Kernel;
using source::Scope;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;
using source::Subscript;
using source::to;
using source::VariableReference;

namespace {

bool holds_any(const Block& block, std::initializer_list<StmtKind> kinds) {
  bool found = false;
  walk(block, [&](const Stmt& stmt) {
    for (const StmtKind kind : kinds)
      found = found || stmt.kind() == kind;
  });
  return found;
}

class GuardFlattener {
 public:
  explicit GuardFlattener(const Kernel& kernel) : analysis_(kernel), reads_(kernel, analysis_) {
    walk(kernel.body, [&](const Stmt& stmt) {
      const ExprPtr& target = target_of(stmt);
      const auto* base = target ? source::base_variable(*target) : nullptr;
      if (base != nullptr) ++sets_[base->name];
    });
  }

  Result<Block> run(const Block& body) {
    Block result;
    if (const Status status = flatten(body, {}, result); !status) return status.error();
    return result;
  }

 private:
  void emit_guarded(const StmtPtr& stmt, const std::vector<ExprPtr>& guards, Block& out) {
    if (guards.empty()) {
      out.push_back(stmt);
      return;
    }
    const ExprPtr condition = source::conjunction(guards);
    // Neighbours under the same guard share one if.
    const auto* last = !out.empty() && merging_ ? as<Branch>(out.back()) : nullptr;
    if (last != nullptr && last->otherwise.empty() && source::equal(last->condition, condition)) {
      Block longer = last->body;
      longer.push_back(stmt);
      out.back() = source::branch(last->condition, std::move(longer), {}, last->line);
      return;
    }
    out.push_back(source::branch(condition, {stmt}, {}, stmt->line));
    merging_ = true;
  }

  bool is_stable(const ExprPtr& condition) const {
    if (analysis_.reads_memory(condition)) return false;
    for (const std::string& name : variables_of(condition)) {
      const bool is_local = analysis_.local(name) != nullptr;
      if (is_local && !analysis_.is_single_definition(name)) return false;
      if (!is_local && analysis_.is_written(name)) return false;
    }
    return true;
  }

  // The guard can be pushed below this branch.
  bool can_open(const Branch& stmt) const {
    const auto kinds = {StmtKind::for_loop, StmtKind::while_loop, StmtKind::barrier};
    return is_stable(stmt.condition) &&
           (holds_any(stmt.body, kinds) || holds_any(stmt.otherwise, kinds));
  }

  bool can_enter_loop(const ForLoop& loop) const {
    const auto counted = source::counted_loop_of(loop);
    if (!counted || analysis_.reads_memory(counted->first) ||
        analysis_.reads_memory(counted->limit)) {
      return false;
    }
    return !holds_any(loop.body,
                      {StmtKind::jump, StmtKind::return_, StmtKind::while_loop, StmtKind::opaque});
  }

  Status flatten_declaration(const StmtPtr& stmt, const std::vector<ExprPtr>& guards, Block& out) {
    const source::Variable& variable = to<Declaration>(stmt).variable;
    const ExprPtr& value = to<Declaration>(stmt).value;
    declared_under_[variable.name] = guards.size();
    declared_in_[variable.name] = loops_.size();
    const bool is_safe = guards.empty() || !value || reads_.are_safe_without(guards, value);
    if (const auto before = declared_.back().find(variable.name); before != declared_.back().end())
      return declare_again(stmt, before->second, is_safe, guards, out);
    declared_.back()[variable.name] = is_safe;
    if (is_safe) {
      out.push_back(stmt);
      return {};
    }
    const ExprPtr zero = source::zero_value(variable.type, variable.scalar);
    if (!zero || variable.is_pointer || !variable.extents.empty()) {
      return refuse("line " + std::to_string(stmt->line) + ": '" + variable.name +
                    "' is read from memory under a condition and has no zero to start from");
    }
    source::Variable mutable_variable = variable;
    mutable_variable.is_const = false;
    out.push_back(source::declare(mutable_variable, zero));
    emit_guarded(source::assign(source::variable(variable.name, variable.scalar), value), guards,
                 out);
    return {};
  }

  // Another scope declared the same: one declaration, `with_value` or of zero, serves both.
  Status declare_again(const StmtPtr& stmt, bool with_value, bool is_safe,
                       const std::vector<ExprPtr>& guards, Block& out) {
    const source::Variable& variable = to<Declaration>(stmt).variable;
    const ExprPtr& value = to<Declaration>(stmt).value;
    if (!value) return {};
    if (with_value && analysis_.is_single_definition(variable.name) &&
        !analysis_.reads_memory(value)) {
      return {};
    }
    if (with_value && variable.is_const)
      return refuse_at(*stmt, "'" + variable.name + "' is declared twice and read from memory");
    const StmtPtr assignment =
        source::assign(source::variable(variable.name, variable.scalar), value);
    emit_guarded(assignment, is_safe ? std::vector<ExprPtr>() : guards, out);
    return {};
  }

  Status flatten(const Block& block, const std::vector<ExprPtr>& guards, Block& out) {
    merging_ = false;
    // What is read under the guards needs no variable in front of them where it is used once.
    const Block written =
        guards.empty() ? block : with_loads_forwarded(block, analysis_, [&](const ExprPtr& value) {
          return !reads_.are_safe_without(guards, value);
        });
    for (const StmtPtr& stmt : written) {
      if (Status status = flatten(stmt, guards, out); !status) return status;
    }
    merging_ = false;
    return {};
  }

  Status flatten(const StmtPtr& stmt, const std::vector<ExprPtr>& guards, Block& out) {
    switch (stmt->kind()) {
      case StmtKind::branch:
        return flatten_branch(stmt, to<Branch>(stmt), guards, out);
      case StmtKind::for_loop:
        return flatten_loop(stmt, to<ForLoop>(stmt), guards, out);
      case StmtKind::scope:
        return flatten(to<Scope>(stmt).body, guards, out);
      case StmtKind::declaration:
        return flatten_declaration(stmt, guards, out);
      case StmtKind::barrier:
        if (!guards.empty() && !is_uniform(guards))
          return refuse_at(*stmt, "a barrier that not every thread reaches");
        out.push_back(stmt);
        return {};
      case StmtKind::assignment:
        flatten_assignment(stmt, to<Assignment>(stmt), guards, out);
        return {};
      default:
        emit_guarded(stmt, guards, out);
        return {};
    }
  }

  static Error refuse_at(const Stmt& stmt, const std::string& reason) {
    return refuse("line " + std::to_string(stmt.line) + ": " + reason);
  }

  Status flatten_branch(const StmtPtr& stmt, const Branch& branch,
                        const std::vector<ExprPtr>& guards, Block& out) {
    if (can_open(branch)) {
      std::vector<ExprPtr> inner = guards;
      for (const ExprPtr& term : source::conjuncts(branch.condition))
        inner.push_back(term);
      if (Status status = flatten(branch.body, inner, out); !status || branch.otherwise.empty())
        return status;
      std::vector<ExprPtr> other = guards;
      for (const ExprPtr& term : source::conjuncts(source::negate(branch.condition)))
        other.push_back(term);
      return flatten(branch.otherwise, other, out);
    }
    if (!guards.empty() && (holds_any(branch.body, {StmtKind::barrier}) ||
                            holds_any(branch.otherwise, {StmtKind::barrier})))
      return refuse_at(*stmt, "a barrier under a condition");
    emit_guarded(stmt, guards, out);
    return {};
  }

  Status flatten_loop(const StmtPtr& stmt, const ForLoop& loop, const std::vector<ExprPtr>& guards,
                      Block& out) {
    if (can_enter_loop(loop)) {
      if (const Declaration* counter = loop.declaration())
        declared_under_[counter->variable.name] = guards.size();
      Block body;
      declared_.emplace_back();
      loops_.push_back(source::counted_loop_of(loop)->name);
      Status status = flatten(loop.body, guards, body);
      loops_.pop_back();
      declared_.pop_back();
      if (!status) return status;
      out.push_back(source::with_blocks(stmt, std::move(body), {}));
      merging_ = false;
      return {};
    }
    if (!guards.empty() && holds_any({stmt}, {StmtKind::barrier}))
      return refuse_at(*stmt, "a barrier inside a loop whose bounds the guard protects");
    emit_guarded(stmt, guards, out);
    return {};
  }

  // Registers declared under the same guards are dead where those fail, so they need none. They
  // hold a value there all the same: steps drop guards around sums that nobody sees, and compilers
  // may do what they like with code that computes with registers that hold none.
  void flatten_assignment(const StmtPtr& stmt, const Assignment& assignment,
                          const std::vector<ExprPtr>& guards, Block& out) {
    const auto* target = source::base_variable(*assignment.target);
    const auto declared =
        target != nullptr ? declared_under_.find(target->name) : declared_under_.end();
    const bool is_private = !guards.empty() && declared != declared_under_.end() &&
                            declared->second == guards.size() && is_safe_place(assignment.target);
    if (is_private && reads_.are_safe_without(guards, assignment.value)) {
      out.push_back(stmt);
      return;
    }
    if (!guards.empty() && (is_private || is_set_here_alone(assignment)) &&
        is<Subscript>(assignment.target) && assignment.op == source::AssignmentOperator::assign &&
        !source::variables_of(assignment.value).contains(target->name)) {
      const source::Variable& variable = *analysis_.local(target->name);
      const ExprPtr zero = source::zero_value(variable.type, variable.scalar);
      if (zero) out.push_back(source::assign(assignment.target, zero));
      if (zero) merging_ = false;
    }
    emit_guarded(stmt, guards, out);
  }

  // Whether no other statement sets the register, and this one sets each element once.
  bool is_set_here_alone(const Assignment& assignment) const {
    const auto* target = source::base_variable(*assignment.target);
    if (target == nullptr || !is_safe_place(assignment.target)) return false;
    const auto sets = sets_.find(target->name);
    const auto depth = declared_in_.find(target->name);
    if (sets == sets_.end() || sets->second != 1 || depth == declared_in_.end()) return false;
    std::set<std::string> counters;
    for (const ExprPtr& index : source::indices_of(*assignment.target))
      counters.merge(source::variables_of(index));
    return std::all_of(loops_.begin() + static_cast<std::ptrdiff_t>(depth->second), loops_.end(),
                       [&](const std::string& loop) { return counters.contains(loop); });
  }

  // Whether this is a register, or an element of an array of them at constants and counters of
  // loops between constants: it exists where the guards fail, too.
  bool is_safe_place(const ExprPtr& target) const {
    const auto* base = source::base_variable(*target);
    const source::Variable* variable = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (variable == nullptr || variable->storage != source::Storage::automatic ||
        variable->is_pointer) {
      return false;
    }
    for (const ExprPtr& index : source::indices_of(*target)) {
      for (const std::string& name : source::variables_of(index)) {
        const source::CountedLoop* loop = analysis_.loop(name);
        if (loop == nullptr || !is<source::IntegerLiteral>(loop->first) ||
            !is<source::IntegerLiteral>(loop->limit)) {
          return false;
        }
      }
    }
    return true;
  }

  bool is_uniform(const std::vector<ExprPtr>& guards) const {
    for (const ExprPtr& guard : guards) {
      bool uniform = true;
      std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
        source::walk(expr, [&](const Expr& node) {
          const auto* builtin = as<Builtin>(node);
          if (builtin != nullptr && builtin->name.starts_with("threadIdx")) uniform = false;
          if (is<Subscript>(node) || is<Call>(node)) uniform = false;
          const auto* variable = as<VariableReference>(node);
          if (variable == nullptr || analysis_.local(variable->name) == nullptr) return;
          if (const ExprPtr definition = analysis_.definition(variable->name)) {
            check(definition);
          } else if (analysis_.loop(variable->name) == nullptr) {
            uniform = false;
          }
        });
      };
      check(guard);
      if (!uniform) return false;
    }
    return true;
  }

  source::Analysis analysis_;
  GuardedReads reads_;
  std::map<std::string, std::size_t> declared_under_;  // name -> number of guards around it
  std::map<std::string, std::size_t> declared_in_;     // name -> number of loops around it
  std::map<std::string, int> sets_;                    // name -> assignments to it in the kernel
  std::vector<std::string> loops_;                     // counters of those around the statement
  // By block that is being built, outermost first: what it declares, and whether with its value.
  std::vector<std::map<std::string, bool>> declared_{1};
  bool merging_ = false;  // whether out.back() is a guard this pass opened in the current block
};

}  // namespace

Result<Block> flatten_guards(const Kernel& kernel) {
  return GuardFlattener(kernel).run(kernel.body);
}

namespace {

// if (a) { if (b) { ... } }  becomes  if (a && b) { ... }
Block with_merged_branches(const Block& block) {
  Block result;
  for (const StmtPtr& stmt : block) {
    Block body = with_merged_branches(body_of(*stmt));
    Block otherwise = with_merged_branches(otherwise_of(*stmt));
    const bool is_plain = is<Branch>(stmt) && otherwise.empty() && body.size() == 1;
    const auto* inner = is_plain ? as<Branch>(body[0]) : nullptr;
    if (inner != nullptr && inner->otherwise.empty()) {
      result.push_back(source::branch(source::both(to<Branch>(stmt).condition, inner->condition),
                                      inner->body, {}, stmt->line));
    } else {
      result.push_back(source::with_blocks(stmt, std::move(body), std::move(otherwise)));
    }
  }
  return result;
}

}  // namespace

Result<Kernel> normalised(const Kernel& kernel) {
  Kernel result = kernel;
  auto body = without_early_returns(with_conditions_written_out(kernel));
  if (!body) return std::move(body).error();
  result.body = std::move(*body);
  result.body = with_merged_branches(if_converted(result));
  auto flat = flatten_guards(result);
  if (!flat) return std::move(flat).error();
  result.body = std::move(*flat);
  return result;
}

}  // namespace regraph::rewrite
