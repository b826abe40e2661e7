#include "rewrite/forms/normal_form.h"

#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/if_conversion.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/named_conditions.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Whether memory may be read where the guards around it fail.

class GuardedReads {
 public:
  // `analysis` is of the kernel; both must outlive this.
  GuardedReads(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  // Whether the value may be computed where the guards fail. Memory may only be read at places that
  // do not follow what the guards ask about: the threads that meet the guards read them as well.
  [[nodiscard]] bool are_safe_without(const std::vector<ExprPtr>& guards,
                                      const ExprPtr& value) const {
    if (!analysis_.reads_memory(value)) return true;
    std::set<std::string> asked;
    return find_asked(guards, asked) && reads_nothing_asked(value, asked);
  }

 private:
  // The symbols in the guards that are no parameters; false for guards that are not understood, or
  // that do not ask about the thread.
  bool find_asked(const std::vector<ExprPtr>& guards, std::set<std::string>& asked) const {
    for (const ExprPtr& guard : guards) {
      const auto* comparison = as<Binary>(guard);
      if (comparison == nullptr) return false;
      bool asks_thread = false;
      for (const ExprPtr& side : {comparison->left, comparison->right}) {
        const auto polynomial = analysis_.polynomial(side);
        if (!polynomial) return false;
        for (const std::string& symbol : polynomial->symbols()) {
          asks_thread = asks_thread || symbol.find('.') != std::string::npos;
          if (kernel_.parameter(symbol) == nullptr) asked.insert(symbol);
        }
      }
      if (!asks_thread) return false;
    }
    return true;
  }

  // Whether all that the expression reads is elements of buffers at places that follow none of the
  // symbols.
  [[nodiscard]] bool reads_nothing_asked(const ExprPtr& expr,
                                         const std::set<std::string>& asked) const {
    if (is<OpaqueExpression>(expr)) return false;
    const auto* call = as<Call>(expr);
    if (call != nullptr && source::call_reads(*call)) return false;
    if (const auto* access = as<Subscript>(expr)) {
      const auto* base = as<VariableReference>(access->base);
      const auto index = analysis_.polynomial(access->index);
      if (base == nullptr || !analysis_.is_global_pointer(base->name) || !index) return false;
      for (const std::string& symbol : index->symbols()) {
        if (asked.contains(symbol) || counts_by(symbol, asked)) return false;
      }
      return true;
    }
    bool safe = true;
    for_each_operand(
        *expr, [&](const ExprPtr& operand) { safe = safe && reads_nothing_asked(operand, asked); });
    return safe;
  }

  // Whether the symbol is a counter of a loop that begins or ends where one of the asked says.
  [[nodiscard]] bool counts_by(const std::string& symbol,
                               const std::set<std::string>& asked) const {
    const CountedLoop* loop = analysis_.loop(symbol);
    return loop != nullptr && (follows(loop->first, asked) || follows(loop->limit, asked));
  }

  // Whether the value may depend on one of the asked.
  [[nodiscard]] bool follows(const ExprPtr& value, const std::set<std::string>& asked) const {
    bool found = false;
    source::walk(value, [&](const Expr& node) {
      if (const auto* builtin = as<Builtin>(node)) found = found || asked.contains(builtin->name);
      const auto* variable = as<VariableReference>(node);
      if (found || variable == nullptr) return;
      const std::string& name = variable->name;
      if (asked.contains(name)) {
        found = true;
      } else if (analysis_.loop(name) != nullptr) {
        found = counts_by(name, asked);
      } else if (const ExprPtr definition = analysis_.definition(name)) {
        found = follows(definition, asked);
      } else {
        found = kernel_.parameter(name) == nullptr;
      }
    });
    return found;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
};

// Values from memory with a name, written where they are used.

// Whether computing the part may do more than give a value.
bool may_do_more(const Expr& part) {
  const auto* call = as<Call>(part);
  return is<OpaqueExpression>(part) || (call != nullptr && !is_pure(*call));
}

// The value as the variable has it.
ExprPtr as_held(const Declaration& declaration) {
  const ExprPtr& value = declaration.value;
  const auto* choice = as<Conditional>(value);
  const auto type = choice != nullptr && choice->then->type == choice->otherwise->type
                        ? choice->then->type
                        : value->type;
  if (type == declaration.variable.scalar) return value;
  return with_type(cast(declaration.variable.type, value), declaration.variable.scalar);
}

// Whether the statement may change memory by a call: a value must not be read behind it instead.
bool may_change(const StmtPtr& stmt) {
  return any_expression({stmt}, may_do_more);
}

// Whether the statement does nothing but to change a variable, or an array of the thread's own,
// that the value does not name.
bool leaves_alone(const StmtPtr& stmt, const ExprPtr& value, const Analysis& analysis) {
  const ExprPtr& target = source::is<Assignment>(stmt) ? target_of(*stmt) : nullptr;
  const auto* base = target ? base_variable(*target) : nullptr;
  const Variable* local = base != nullptr ? analysis.local(base->name) : nullptr;
  return local != nullptr && local->storage == Storage::automatic && !local->is_pointer &&
         !source::variables_of(value).contains(base->name);
}

// Where the value may be moved to: the one use of it, after nothing that could change it; else the
// block's end.
std::size_t place_of_use(const Block& block, std::size_t from, const Analysis& analysis) {
  const auto& declaration = source::to<Declaration>(block[from]);
  const std::string& name = declaration.variable.name;
  for (std::size_t at = from + 1; at < block.size() && !may_change(block[at]); ++at) {
    const int uses = mentions_of(name, Block{block[at]});
    if (uses > 0) {
      const bool is_simple = is<Assignment>(block[at]) || is<Declaration>(block[at]);
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      return is_simple && uses == 1 && mentions_of(name, rest) == 0 ? at : block.size();
    }
    if (!is<Declaration>(block[at]) && !leaves_alone(block[at], declaration.value, analysis)) break;
  }
  return block.size();
}

// float t = x[i]; sum += t * w;   ->   sum += x[i] * w;
//
// for scalars declared in the block (not below it) that get one value, which calls pure functions
// at most and of which `is_wanted`, and are used once: by the next statement that is no
// declaration, an assignment, or by a declaration on the way, so that nothing changes in between.
Block with_loads_forwarded(const Block& block, const Analysis& analysis,
                           const std::function<bool(const ExprPtr&)>& is_wanted) {
  Block result = block;
  for (std::size_t at = 0; at < result.size();) {
    const auto* declaration = as<Declaration>(result[at]);
    const bool is_load =
        declaration != nullptr && declaration->value && declaration->variable.scalar &&
        declaration->variable.extents.empty() && !declaration->variable.is_pointer &&
        analysis.definition(declaration->variable.name) &&
        !any_expression(declaration->value, may_do_more) && is_wanted(declaration->value);
    const std::size_t use = is_load ? place_of_use(result, at, analysis) : result.size();
    if (use == result.size()) {
      ++at;
      continue;
    }
    const Block used = rewrite_expressions(
        {result[use]}, replace_variable(declaration->variable.name, as_held(*declaration)));
    result[use] = used.front();
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return result;
}

class GuardFlattener {
 public:
  explicit GuardFlattener(const Kernel& kernel) : analysis_(kernel), reads_(kernel, analysis_) {
    walk(kernel.body, [&](const Stmt& stmt) {
      const ExprPtr& target = target_of(stmt);
      const auto* base = target ? base_variable(*target) : nullptr;
      if (base != nullptr) ++sets_[base->name];
      // What is given away, as elements are to be moved by vectors, may be set there, too.
      walk_own_expressions(stmt, [&](const Expr& expr) {
        for_each_passed_place(expr, [&](const Expr& place) {
          const auto* given = place_variable(place);
          if (given != nullptr) ++sets_[given->name];
        });
      });
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
    const ExprPtr condition = conjunction(guards);
    // Neighbours under the same guard share one if.
    const auto* last = !out.empty() && merging_ ? as<Branch>(out.back()) : nullptr;
    if (last != nullptr && last->otherwise.empty() && equal(last->condition, condition)) {
      Block longer = last->body;
      longer.push_back(stmt);
      out.back() = source::branch(last->condition, std::move(longer), {}, last->line);
      return;
    }
    out.push_back(source::branch(condition, {stmt}, {}, stmt->line));
    merging_ = true;
  }

  // The guard can be pushed below this branch.
  bool can_open(const Branch& stmt) const {
    const auto kinds = {StmtKind::for_loop, StmtKind::while_loop, StmtKind::barrier};
    return is_fixed(stmt.condition, analysis_) &&
           (holds_any(stmt.body, kinds) || holds_any(stmt.otherwise, kinds));
  }

  bool can_enter_loop(const ForLoop& loop) const {
    const auto counted = counted_loop_of(loop);
    if (!counted || analysis_.reads_memory(counted->first) ||
        analysis_.reads_memory(counted->limit)) {
      return false;
    }
    return !holds_any(loop.body,
                      {StmtKind::jump, StmtKind::return_, StmtKind::while_loop, StmtKind::opaque});
  }

  Status flatten_declaration(const StmtPtr& stmt, const std::vector<ExprPtr>& guards, Block& out) {
    const Variable& variable = to<Declaration>(stmt).variable;
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
    const ExprPtr zero = zero_value(variable.type, variable.scalar);
    if (!zero || variable.is_pointer || !variable.extents.empty()) {
      return refuse("line " + std::to_string(stmt->line) + ": '" + variable.name +
                    "' is read from memory under a condition and has no zero to start from");
    }
    Variable mutable_variable = variable;
    mutable_variable.is_const = false;
    out.push_back(declare(mutable_variable, zero));
    emit_guarded(source::assign(source::variable(variable.name, variable.scalar), value), guards,
                 out);
    return {};
  }

  // Another scope declared the same: one declaration, `with_value` or of zero, serves both.
  Status declare_again(const StmtPtr& stmt, bool with_value, bool is_safe,
                       const std::vector<ExprPtr>& guards, Block& out) {
    const Variable& variable = to<Declaration>(stmt).variable;
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
      for (const ExprPtr& term : conjuncts(branch.condition))
        inner.push_back(term);
      if (Status status = flatten(branch.body, inner, out); !status || branch.otherwise.empty())
        return status;
      std::vector<ExprPtr> other = guards;
      for (const ExprPtr& term : conjuncts(negate(branch.condition)))
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
      loops_.push_back(counted_loop_of(loop)->name);
      Status status = flatten(loop.body, guards, body);
      loops_.pop_back();
      declared_.pop_back();
      if (!status) return status;
      out.push_back(with_blocks(stmt, std::move(body), {}));
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
    const auto* target = base_variable(*assignment.target);
    const auto declared =
        target != nullptr ? declared_under_.find(target->name) : declared_under_.end();
    const bool is_private = !guards.empty() && declared != declared_under_.end() &&
                            declared->second == guards.size() && is_safe_place(assignment.target);
    if (is_private && reads_.are_safe_without(guards, assignment.value)) {
      out.push_back(stmt);
      return;
    }
    if (!guards.empty() && (is_private || is_set_here_alone(assignment)) &&
        is<Subscript>(assignment.target) && assignment.op == AssignmentOperator::assign &&
        !source::variables_of(assignment.value).contains(target->name)) {
      const Variable& variable = *analysis_.local(target->name);
      const ExprPtr zero = zero_value(variable.type, variable.scalar);
      if (zero) out.push_back(source::assign(assignment.target, zero));
      if (zero) merging_ = false;
    }
    emit_guarded(stmt, guards, out);
  }

  // Whether no other statement sets the register, and this one sets each element once.
  bool is_set_here_alone(const Assignment& assignment) const {
    const auto* target = base_variable(*assignment.target);
    if (target == nullptr || !is_safe_place(assignment.target)) return false;
    const auto sets = sets_.find(target->name);
    const auto depth = declared_in_.find(target->name);
    if (sets == sets_.end() || sets->second != 1 || depth == declared_in_.end()) return false;
    std::set<std::string> counters;
    for (const ExprPtr& index : indices_of(*assignment.target))
      counters.merge(source::variables_of(index));
    return std::all_of(loops_.begin() + static_cast<std::ptrdiff_t>(depth->second), loops_.end(),
                       [&](const std::string& loop) { return counters.contains(loop); });
  }

  // Whether this is a register, or an element of an array of them at constants and counters of
  // loops between constants: it exists where the guards fail, too.
  bool is_safe_place(const ExprPtr& target) const {
    const auto* base = base_variable(*target);
    const Variable* variable = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (variable == nullptr || variable->storage != Storage::automatic || variable->is_pointer) {
      return false;
    }
    for (const ExprPtr& index : indices_of(*target)) {
      for (const std::string& name : source::variables_of(index)) {
        const CountedLoop* loop = analysis_.loop(name);
        if (loop == nullptr || !is<IntegerLiteral>(loop->first) ||
            !is<IntegerLiteral>(loop->limit)) {
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

  Analysis analysis_;
  GuardedReads reads_;
  std::map<std::string, std::size_t> declared_under_;  // name -> number of guards around it
  std::map<std::string, std::size_t> declared_in_;     // name -> number of loops around it
  std::map<std::string, int> sets_;  // name -> assignments, and places that are given away
  std::vector<std::string> loops_;   // counters of those around the statement
  // By block that is being built, outermost first: what it declares, and whether with its value.
  std::vector<std::map<std::string, bool>> declared_{1};
  bool merging_ = false;  // whether out.back() is a guard this pass opened in the current block
};

// if (a) { if (b) { ... } }  becomes  if (a && b) { ... }
Block with_merged_branches(const Block& block) {
  Block result;
  for (const StmtPtr& stmt : block) {
    Block body = with_merged_branches(body_of(*stmt));
    Block otherwise = with_merged_branches(otherwise_of(*stmt));
    const bool is_plain = is<Branch>(stmt) && otherwise.empty() && body.size() == 1;
    const auto* inner = is_plain ? as<Branch>(body[0]) : nullptr;
    if (inner != nullptr && inner->otherwise.empty()) {
      result.push_back(source::branch(both(to<Branch>(stmt).condition, inner->condition),
                                      inner->body, {}, stmt->line));
    } else {
      result.push_back(with_blocks(stmt, std::move(body), std::move(otherwise)));
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
  auto flat = GuardFlattener(result).run(result.body);
  if (!flat) return std::move(flat).error();
  result.body = std::move(*flat);
  return result;
}

}  // namespace regraph::rewrite
