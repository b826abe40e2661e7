#include "rewrite/analysis/reduction_loop.h"

#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>

namespace regraph::rewrite {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

StmtPtr Reduction::combine(const ExprPtr& target, const ExprPtr& other) const {
  switch (kind) {
    case Kind::compound:
      return source::assign(target, op, other);
    case Kind::function:
      return source::assign(target, "=", source::call(op, {target, other}));
    case Kind::comparison:
      return source::assign(target, "=",
                            source::conditional(source::binary(op, other, target), other, target));
  }
  return nullptr;
}

ExprPtr Reduction::neutral() const {
  if (kind != Kind::compound) return nullptr;
  const bool wide = scalar == ScalarType::f64;
  if (op == "*=") {
    return is_floating(scalar) ? source::floating(wide ? "1.0" : "1.0f") : source::integer(1);
  }
  if (op == "&=") return source::integer(-1);
  return source::zero_of(scalar);
}

bool Reduction::rounds() const {
  return kind == Kind::compound && is_floating(scalar);
}

namespace {

bool is_name(const ExprPtr& expr, const std::string& name) {
  return expr && expr->kind == ExprKind::variable && expr->text == name;
}

bool mentions(const ExprPtr& expr, const std::string& name) {
  return source::variables_of(expr).contains(name);
}

// name + ... - ...: `name` once, with a positive sign.
bool is_sum_onto(const ExprPtr& expr, const std::string& name) {
  if (is_name(expr, name)) return true;
  if (expr->kind != ExprKind::binary || (expr->text != "+" && expr->text != "-")) return false;
  const ExprPtr& left = expr->operands[0];
  const ExprPtr& right = expr->operands[1];
  if (is_sum_onto(left, name)) return !mentions(right, name);
  return expr->text == "+" && is_sum_onto(right, name) && !mentions(left, name);
}

// other > name ? other : name and its mirror images; the relation under which `other` wins.
std::optional<std::string> comparison_of(const ExprPtr& condition, const ExprPtr& then,
                                         const ExprPtr& otherwise, const std::string& name) {
  if (condition->kind != ExprKind::binary) return std::nullopt;
  std::string relation = condition->text.substr(0, 1);
  if (relation != "<" && relation != ">") return std::nullopt;
  if (condition->text == "<<" || condition->text == ">>") return std::nullopt;
  ExprPtr other = condition->operands[0];
  if (is_name(other, name)) {
    other = condition->operands[1];
    relation = relation == "<" ? ">" : "<";
  } else if (!is_name(condition->operands[1], name)) {
    return std::nullopt;
  }
  if (mentions(other, name)) return std::nullopt;
  if (source::equal(then, other) && is_name(otherwise, name)) return relation;
  if (source::equal(otherwise, other) && is_name(then, name)) return relation == "<" ? ">" : "<";
  return std::nullopt;
}

class EffectCollector {
 public:
  EffectCollector(const Stmt& loop, const Analysis& analysis)
      : loop_(loop), analysis_(analysis), inside_(source::declared_names(loop.body)) {}

  Result<LoopEffects> collect() {
    if (Status status = block(loop_.body); !status) return status.error();
    for (const Reduction& reduction : effects_.reductions) {
      if (is_read_elsewhere(reduction.variable)) {
        return refuse(where() + "'" + reduction.variable + "' is read before the loop is over");
      }
    }
    return effects_;
  }

 private:
  std::string where() const {
    return loop_.line > 0 ? "loop at line " + std::to_string(loop_.line) + ": " : "";
  }

  Status block(const Block& statements) {
    for (const StmtPtr& stmt : statements) {
      if (Status status = statement(*stmt); !status) return status;
    }
    return {};
  }

  Status statement(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::declare:
        if (stmt.variable.storage != source::Storage::automatic) {
          return refuse(where() + "it declares shared memory");
        }
        return {};
      case StmtKind::assign:
        return assignment(stmt);
      case StmtKind::branch: {
        if (const auto reduction = guarded_update(stmt)) return add(*reduction, &stmt);
        if (Status status = block(stmt.body); !status) return status;
        return block(stmt.otherwise);
      }
      case StmtKind::loop:
        if (stmt.init && stmt.init->kind == StmtKind::assign) {
          if (Status status = assignment(*stmt.init); !status) return status;
        }
        return block(stmt.body);
      case StmtKind::scope:
        return block(stmt.body);
      default:
        return refuse(where() +
                      "it holds a barrier, a jump, a while loop or a call for its effect");
    }
  }

  Status assignment(const Stmt& stmt) {
    const Expr* base = source::base_variable(*stmt.target);
    if (base == nullptr) {
      std::set<std::string> names = source::variables_of(stmt.target);
      const bool is_private = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return inside_.contains(name);
      });
      if (is_private) return {};
      return refuse(where() + "it assigns to something that is no variable or array element");
    }
    if (inside_.contains(base->text)) return {};
    if (analysis_.is_global_pointer(base->text)) {
      effects_.stored.insert(base->text);
      return {};
    }
    const source::Variable* variable = analysis_.local(base->text);
    if (stmt.target->kind != ExprKind::variable || variable == nullptr || !variable->scalar ||
        variable->is_pointer) {
      return refuse(where() + "it changes '" + base->text + "', which later iterations may read");
    }
    const auto reduction = update(stmt, *variable);
    if (!reduction) {
      return refuse(where() + "'" + base->text +
                    "' carries a value from one iteration to the next");
    }
    return add(*reduction, &stmt);
  }

  static Reduction named(const source::Variable& variable, Reduction::Kind kind, std::string op) {
    return {kind, variable.name, variable.type, *variable.scalar, std::move(op)};
  }

  std::optional<Reduction> update(const Stmt& stmt, const source::Variable& variable) const {
    static const std::set<std::string> kCompound = {"+=", "-=", "*=", "&=", "|=", "^="};
    static const std::set<std::string> kOperators = {"*", "&", "|", "^"};
    static const std::set<std::string> kFunctions = {"max",   "min",  "fmaxf",
                                                     "fminf", "fmax", "fmin"};
    const std::string& name = variable.name;
    const ExprPtr& value = stmt.value;
    if (kCompound.contains(stmt.text)) {
      if (mentions(value, name)) return std::nullopt;
      return named(variable, Reduction::Kind::compound, stmt.text == "-=" ? "+=" : stmt.text);
    }
    if (stmt.text != "=") return std::nullopt;
    if (!is_name(value, name) && is_sum_onto(value, name)) {
      return named(variable, Reduction::Kind::compound, "+=");
    }
    if (value->kind == ExprKind::binary && kOperators.contains(value->text)) {
      for (const std::size_t own : {std::size_t{0}, std::size_t{1}}) {
        if (is_name(value->operands[own], name) && !mentions(value->operands[1 - own], name)) {
          return named(variable, Reduction::Kind::compound, value->text + "=");
        }
      }
    }
    if (value->kind == ExprKind::call && value->operands.size() == 3 &&
        (value->text == "fmaf" || value->text == "fma") && is_name(value->operands[2], name) &&
        !mentions(value->operands[0], name) && !mentions(value->operands[1], name)) {
      return named(variable, Reduction::Kind::compound, "+=");
    }
    if (value->kind == ExprKind::call && value->operands.size() == 2 &&
        kFunctions.contains(value->text)) {
      for (const std::size_t own : {std::size_t{0}, std::size_t{1}}) {
        if (is_name(value->operands[own], name) && !mentions(value->operands[1 - own], name)) {
          return named(variable, Reduction::Kind::function, value->text);
        }
      }
    }
    if (value->kind == ExprKind::conditional) {
      const auto relation =
          comparison_of(value->operands[0], value->operands[1], value->operands[2], name);
      if (relation) return named(variable, Reduction::Kind::comparison, *relation);
    }
    return std::nullopt;
  }

  // if (other > name) name = other;
  std::optional<Reduction> guarded_update(const Stmt& stmt) const {
    if (!stmt.otherwise.empty() || stmt.body.size() != 1) return std::nullopt;
    const Stmt& inner = *stmt.body[0];
    if (inner.kind != StmtKind::assign || inner.text != "=" ||
        inner.target->kind != ExprKind::variable) {
      return std::nullopt;
    }
    const source::Variable* variable = analysis_.local(inner.target->text);
    if (variable == nullptr || !variable->scalar || variable->is_pointer ||
        inside_.contains(variable->name)) {
      return std::nullopt;
    }
    const auto relation = comparison_of(stmt.value, inner.value, inner.target, variable->name);
    if (!relation) return std::nullopt;
    return named(*variable, Reduction::Kind::comparison, *relation);
  }

  Status add(const Reduction& reduction, const Stmt* stmt) {
    const bool shuffles =
        reduction.scalar == ScalarType::f32 || reduction.scalar == ScalarType::f64 ||
        reduction.scalar == ScalarType::i32 || reduction.scalar == ScalarType::u32 ||
        reduction.scalar == ScalarType::i64 || reduction.scalar == ScalarType::u64;
    if (!shuffles) {
      return refuse(where() + "'" + reduction.variable + "' has type " + reduction.type +
                    ", for which partial results are not supported");
    }
    updates_.insert(stmt);
    for (const Reduction& known : effects_.reductions) {
      if (known.variable != reduction.variable) continue;
      if (known.kind == reduction.kind && known.op == reduction.op) return {};
      return refuse(where() + "'" + reduction.variable + "' is updated by different operations");
    }
    effects_.reductions.push_back(reduction);
    return {};
  }

  bool is_read_elsewhere(const std::string& name) const {
    bool found = false;
    std::function<void(const Block&)> visit = [&](const Block& statements) {
      for (const StmtPtr& stmt : statements) {
        if (updates_.contains(stmt.get())) continue;
        for (const StmtPtr& part : {stmt->init, stmt->step}) {
          if (part) found = found || mentions(part->value, name) || mentions(part->target, name);
        }
        found = found || mentions(stmt->value, name) || mentions(stmt->target, name);
        visit(stmt->body);
        visit(stmt->otherwise);
      }
    };
    visit(loop_.body);
    return found;
  }

  const Stmt& loop_;
  const Analysis& analysis_;
  std::set<std::string> inside_;
  std::set<const Stmt*> updates_;
  LoopEffects effects_;
};

}  // namespace

Result<LoopEffects> effects_of(const Stmt& loop, const Analysis& analysis) {
  return EffectCollector(loop, analysis).collect();
}

Status permit_reordering(const std::vector<Reduction>& reductions, const Problem& problem) {
  for (const Reduction& reduction : reductions) {
    if (!reduction.rounds() || problem.assume.reassociate) continue;
    return refuse("'" + reduction.variable +
                  "' is a floating-point sum and the problem does not grant 'assume: "
                  "{reassociate: true}'");
  }
  return {};
}

bool any_rounds(const std::vector<Reduction>& reductions) {
  return std::any_of(reductions.begin(), reductions.end(),
                     [](const Reduction& reduction) { return reduction.rounds(); });
}

}  // namespace regraph::rewrite
