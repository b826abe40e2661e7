#include "rewrite/forms/normal_form.h"

#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <functional>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

Result<Block> without_early_returns(const Block& body) {
  Block result;
  for (std::size_t index = 0; index < body.size(); ++index) {
    const StmtPtr& stmt = body[index];
    const bool is_exit = stmt->kind == StmtKind::branch && stmt->otherwise.empty() &&
                         stmt->body.size() == 1 && stmt->body[0]->kind == StmtKind::leave;
    if (stmt->kind == StmtKind::leave) return result;
    if (is_exit) {
      auto rest = without_early_returns(
          Block(body.begin() + static_cast<std::ptrdiff_t>(index) + 1, body.end()));
      if (!rest) return rest;
      auto guarded = std::make_shared<Stmt>();
      guarded->kind = StmtKind::branch;
      guarded->value = source::negate(stmt->value);
      guarded->body = std::move(*rest);
      guarded->line = stmt->line;
      result.push_back(guarded);
      return result;
    }
    bool leaves = false;
    walk(Block{stmt}, [&](const Stmt& inner) { leaves = leaves || inner.kind == StmtKind::leave; });
    if (leaves) {
      return refuse(
          "line " + std::to_string(stmt->line) +
          ": a return inside a loop or branch; only 'if (...) return;' at the top level is "
          "understood");
    }
    result.push_back(stmt);
  }
  return result;
}

namespace {

bool holds_any(const Block& block, std::initializer_list<StmtKind> kinds) {
  bool found = false;
  walk(block, [&](const Stmt& stmt) {
    for (const StmtKind kind : kinds)
      found = found || stmt.kind == kind;
  });
  return found;
}

class GuardFlattener {
 public:
  explicit GuardFlattener(const Kernel& kernel) : analysis_(kernel) {
    for (const source::KernelParameter& parameter : kernel.parameters)
      parameters_.insert(parameter.name);
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
    if (!out.empty() && out.back()->kind == StmtKind::branch && out.back()->otherwise.empty() &&
        source::equal(out.back()->value, condition) && merging_) {
      auto merged = std::make_shared<Stmt>(*out.back());
      merged->body.push_back(stmt);
      out.back() = merged;
      return;
    }
    auto guarded = std::make_shared<Stmt>();
    guarded->kind = StmtKind::branch;
    guarded->value = condition;
    guarded->body = {stmt};
    guarded->line = stmt->line;
    out.push_back(guarded);
    merging_ = true;
  }

  bool is_stable(const ExprPtr& condition) const {
    if (analysis_.reads_memory(condition)) return false;
    for (const std::string& name : variables_of(condition)) {
      const bool is_local = analysis_.local(name) != nullptr;
      if (is_local && !analysis_.is_single_definition(name)) return false;
    }
    return true;
  }

  // The guard can be pushed below this branch.
  bool can_open(const Stmt& stmt) const {
    return stmt.kind == StmtKind::branch && stmt.otherwise.empty() && is_stable(stmt.value) &&
           holds_any(stmt.body, {StmtKind::loop, StmtKind::repeat, StmtKind::barrier});
  }

  bool can_enter_loop(const Stmt& loop) const {
    const auto counted = source::counted_loop_of(loop);
    if (!counted || analysis_.reads_memory(counted->first) ||
        analysis_.reads_memory(counted->limit)) {
      return false;
    }
    return !holds_any(loop.body,
                      {StmtKind::jump, StmtKind::leave, StmtKind::repeat, StmtKind::opaque});
  }

  // Whether the value may be computed where the guards fail. Memory may only be read at places that
  // do not follow what the guards ask about: the threads that meet the guards read them as well.
  bool is_safe_without(const std::vector<ExprPtr>& guards, const ExprPtr& value) const {
    if (!analysis_.reads_memory(value)) return true;
    std::set<std::string> asked;
    for (const ExprPtr& guard : guards) {
      if (guard->kind != ExprKind::binary) return false;
      bool asks_thread = false;
      for (const ExprPtr& side : guard->operands) {
        const auto polynomial = analysis_.polynomial(side);
        if (!polynomial) return false;
        for (const std::string& symbol : polynomial->symbols()) {
          asks_thread = asks_thread || symbol.find('.') != std::string::npos;
          if (parameters_.count(symbol) == 0) asked.insert(symbol);
        }
      }
      if (!asks_thread) return false;
    }
    bool safe = true;
    std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
      if (expr->kind == ExprKind::call && analysis_.reads_memory(expr)) {
        Expr bare = *expr;
        bare.operands.clear();
        if (analysis_.reads_memory(std::make_shared<Expr>(bare))) safe = false;
      }
      if (expr->kind == ExprKind::opaque) safe = false;
      if (expr->kind == ExprKind::index) {
        const ExprPtr& base = expr->operands[0];
        const auto index = analysis_.polynomial(expr->operands[1]);
        const bool is_global =
            base->kind == ExprKind::variable && analysis_.is_global_pointer(base->text);
        if (!is_global || !index) {
          safe = false;
          return;
        }
        for (const std::string& symbol : index->symbols())
          safe = safe && !asked.contains(symbol);
        return;
      }
      for (const ExprPtr& operand : expr->operands)
        check(operand);
    };
    check(value);
    return safe;
  }

  Status flatten_declaration(const StmtPtr& stmt, const std::vector<ExprPtr>& guards, Block& out) {
    declared_under_[stmt->variable.name] = guards.size();
    if (guards.empty() || !stmt->value || is_safe_without(guards, stmt->value)) {
      out.push_back(stmt);
      return {};
    }
    const auto& variable = stmt->variable;
    const ExprPtr zero = source::zero_value(variable.type, variable.scalar);
    if (!zero || variable.is_pointer || !variable.extents.empty()) {
      return refuse("line " + std::to_string(stmt->line) + ": '" + variable.name +
                    "' is read from memory under a condition and has no zero to start from");
    }
    source::Variable mutable_variable = variable;
    mutable_variable.is_const = false;
    out.push_back(source::declare(mutable_variable, zero));
    emit_guarded(source::assign(source::variable(variable.name, variable.scalar), "=", stmt->value),
                 guards, out);
    return {};
  }

  Status flatten(const Block& block, const std::vector<ExprPtr>& guards, Block& out) {
    merging_ = false;
    for (const StmtPtr& stmt : block) {
      switch (stmt->kind) {
        case StmtKind::branch:
          if (can_open(*stmt)) {
            std::vector<ExprPtr> inner = guards;
            for (const ExprPtr& term : source::conjuncts(stmt->value))
              inner.push_back(term);
            if (Status status = flatten(stmt->body, inner, out); !status) return status;
            break;
          }
          if (!guards.empty() && holds_any(stmt->body, {StmtKind::barrier})) {
            return refuse("line " + std::to_string(stmt->line) + ": a barrier under a condition");
          }
          emit_guarded(stmt, guards, out);
          break;
        case StmtKind::loop:
          if (can_enter_loop(*stmt)) {
            auto loop = std::make_shared<Stmt>(*stmt);
            loop->body.clear();
            if (stmt->init->kind == StmtKind::declare) {
              declared_under_[stmt->init->variable.name] = guards.size();
            }
            if (Status status = flatten(stmt->body, guards, loop->body); !status) return status;
            out.push_back(loop);
            merging_ = false;
            break;
          }
          if (!guards.empty() && holds_any({stmt}, {StmtKind::barrier})) {
            return refuse("line " + std::to_string(stmt->line) +
                          ": a barrier inside a loop whose bounds the guard protects");
          }
          emit_guarded(stmt, guards, out);
          break;
        case StmtKind::scope:
          if (Status status = flatten(stmt->body, guards, out); !status) return status;
          break;
        case StmtKind::declare:
          if (Status status = flatten_declaration(stmt, guards, out); !status) return status;
          break;
        case StmtKind::barrier:
          if (!guards.empty() && !is_uniform(guards)) {
            return refuse("line " + std::to_string(stmt->line) +
                          ": a barrier that not every thread reaches");
          }
          out.push_back(stmt);
          break;
        case StmtKind::assign: {
          // Registers declared under the same guards are dead where those fail, so they need none.
          const auto declared = stmt->target->kind == ExprKind::variable
                                    ? declared_under_.find(stmt->target->text)
                                    : declared_under_.end();
          const bool is_private =
              declared != declared_under_.end() && declared->second == guards.size();
          if (is_private && is_safe_without(guards, stmt->value)) {
            out.push_back(stmt);
          } else {
            emit_guarded(stmt, guards, out);
          }
          break;
        }
        default:
          emit_guarded(stmt, guards, out);
          break;
      }
    }
    merging_ = false;
    return {};
  }

  bool is_uniform(const std::vector<ExprPtr>& guards) const {
    for (const ExprPtr& guard : guards) {
      bool uniform = true;
      std::function<void(const ExprPtr&)> check = [&](const ExprPtr& expr) {
        source::walk(expr, [&](const Expr& node) {
          if (node.kind == ExprKind::builtin && node.text.starts_with("threadIdx")) uniform = false;
          if (node.kind == ExprKind::index || node.kind == ExprKind::call) uniform = false;
          if (node.kind != ExprKind::variable || analysis_.local(node.text) == nullptr) return;
          const ExprPtr definition = analysis_.definition(node.text);
          if (definition) {
            check(definition);
          } else if (analysis_.loop(node.text) == nullptr) {
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
  std::set<std::string> parameters_;
  std::map<std::string, std::size_t> declared_under_;  // name -> number of guards around it
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
    auto copy = std::make_shared<Stmt>(*stmt);
    copy->body = with_merged_branches(stmt->body);
    copy->otherwise = with_merged_branches(stmt->otherwise);
    const bool is_plain =
        copy->kind == StmtKind::branch && copy->otherwise.empty() && copy->body.size() == 1;
    if (is_plain && copy->body[0]->kind == StmtKind::branch && copy->body[0]->otherwise.empty()) {
      const StmtPtr inner = copy->body[0];
      copy->value = source::binary("&&", copy->value, inner->value);
      copy->body = inner->body;
    }
    result.push_back(std::move(copy));
  }
  return result;
}

}  // namespace

Result<Kernel> normalised(const Kernel& kernel) {
  Kernel result = kernel;
  auto body = without_early_returns(kernel.body);
  if (!body) return std::move(body).error();
  result.body = with_merged_branches(*body);
  auto flat = flatten_guards(result);
  if (!flat) return std::move(flat).error();
  result.body = std::move(*flat);
  return result;
}

}  // namespace regraph::rewrite
