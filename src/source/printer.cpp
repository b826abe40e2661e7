#include "source/printer.h"

#include "source/walk.h"

#include <utility>

namespace regraph::source {
namespace {

using Names = std::map<std::string, std::string>;

// C++ operator precedence; a larger number binds tighter.
enum Precedence : int {
  kConditional = 3,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelational,
  kShift,
  kAdditive,
  kMultiplicative,
  kUnary,
  kPostfix,
};

int precedence_of_binary(const std::string& op) {
  if (op == "||") return kLogicalOr;
  if (op == "&&") return kLogicalAnd;
  if (op == "|") return kBitOr;
  if (op == "^") return kBitXor;
  if (op == "&") return kBitAnd;
  if (op == "==" || op == "!=") return kEquality;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return kRelational;
  if (op == "<<" || op == ">>") return kShift;
  if (op == "+" || op == "-") return kAdditive;
  return kMultiplicative;
}

int precedence(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::conditional:
      return kConditional;
    case ExprKind::binary:
      return precedence_of_binary(expr.text);
    case ExprKind::unary:
    case ExprKind::cast:
      return kUnary;
    case ExprKind::integer:
    case ExprKind::floating:
      return expr.text.starts_with('-') ? kUnary : kPostfix;
    case ExprKind::opaque:
      return 0;
    case ExprKind::variable:
    case ExprKind::builtin:
    case ExprKind::index:
    case ExprKind::call:
    case ExprKind::member:
      return kPostfix;
  }
  return 0;
}

class Printer {
 public:
  explicit Printer(const Names* names) : names_(names) {}

  std::string expr(const ExprPtr& node, int minimum = 0) const {
    std::string text = bare(*node);
    return precedence(*node) < minimum ? "(" + text + ")" : text;
  }

  std::string block(const Block& statements, int indent) const {
    std::string text;
    for (const StmtPtr& statement : statements)
      text += stmt(*statement, indent);
    return text;
  }

  std::string kernel(const Kernel& kernel) const {
    std::string text = kernel.extern_c ? "extern \"C\" __global__ void " : "__global__ void ";
    if (kernel.launch_bounds_threads) {
      text += "__launch_bounds__(" + std::to_string(*kernel.launch_bounds_threads);
      if (kernel.launch_bounds_min_blocks) {
        text += ", " + std::to_string(*kernel.launch_bounds_min_blocks);
      }
      text += ") ";
    }
    text += kernel.name + "(";
    const std::string separator = ",\n" + std::string(4, ' ');
    bool first = true;
    for (const KernelParameter& parameter : kernel.parameters) {
      text += first ? "\n" + std::string(4, ' ') : separator;
      first = false;
      if (parameter.is_pointer) {
        if (parameter.points_to_const) text += "const ";
        text += parameter.type + "*";
        text += parameter.is_restrict ? " __restrict__ " : " ";
      } else {
        text += parameter.type + " ";
      }
      text += parameter.name;
    }
    return text + ") {\n" + block(kernel.body, 2) + "}";
  }

 private:
  std::string name_of(const std::string& name) const {
    if (names_ == nullptr) return name;
    const auto found = names_->find(name);
    return found == names_->end() ? name : found->second;
  }

  std::string bare(const Expr& node) const {
    const auto& operands = node.operands;
    switch (node.kind) {
      case ExprKind::integer:
      case ExprKind::floating:
      case ExprKind::builtin:
      case ExprKind::opaque:
        return node.text;
      case ExprKind::variable:
        return name_of(node.text);
      case ExprKind::unary: {
        const std::string inner = expr(operands[0], kUnary);
        // "- -x" must not become "--x".
        const bool clash = !inner.empty() && inner.front() == node.text.back();
        return node.text + (clash ? " " : "") + inner;
      }
      case ExprKind::binary: {
        const int level = precedence_of_binary(node.text);
        return expr(operands[0], level) + " " + node.text + " " + expr(operands[1], level + 1);
      }
      case ExprKind::conditional:
        return expr(operands[0], kConditional + 1) + " ? " + expr(operands[1]) + " : " +
               expr(operands[2], kConditional);
      case ExprKind::index:
        return expr(operands[0], kPostfix) + "[" + expr(operands[1]) + "]";
      case ExprKind::call: {
        std::string text = node.text + "(";
        for (std::size_t i = 0; i < operands.size(); ++i) {
          text += (i == 0 ? "" : ", ") + expr(operands[i]);
        }
        return text + ")";
      }
      case ExprKind::cast:
        return "(" + node.text + ")" + expr(operands[0], kUnary);
      case ExprKind::member:
        return expr(operands[0], kPostfix) + "." + node.text;
    }
    return node.text;
  }

  // A declaration without indentation and semicolon.
  std::string declaration(const Stmt& stmt) const {
    const Variable& variable = stmt.variable;
    std::string text;
    if (variable.storage == Storage::shared) text += "__shared__ ";
    if (variable.storage == Storage::dynamic_shared) text += "extern __shared__ ";
    if (variable.is_const && !variable.is_pointer) text += "const ";
    text += variable.type;
    text += variable.is_pointer ? "* " : " ";
    if (variable.is_const && variable.is_pointer) text += "const ";
    text += name_of(variable.name);
    for (const std::int64_t extent : variable.extents) {
      text += extent == 0 ? "[]" : "[" + std::to_string(extent) + "]";
    }
    if (stmt.value) text += " = " + expr(stmt.value);
    return text;
  }

  std::string assignment(const Stmt& stmt) const {
    if (stmt.value->kind == ExprKind::integer && stmt.value->number == 1) {
      if (stmt.text == "+=") return "++" + expr(stmt.target, kUnary);
      if (stmt.text == "-=") return "--" + expr(stmt.target, kUnary);
    }
    return expr(stmt.target) + " " + stmt.text + " " + expr(stmt.value);
  }

  std::string simple(const StmtPtr& stmt) const {
    if (!stmt) return "";
    return stmt->kind == StmtKind::declare ? declaration(*stmt) : assignment(*stmt);
  }

  std::string braces(const Block& body, int indent) const {
    return "{\n" + block(body, indent + 2) + std::string(static_cast<std::size_t>(indent), ' ') +
           "}";
  }

  std::string stmt(const Stmt& stmt, int indent) const {
    const std::string pad(static_cast<std::size_t>(indent), ' ');
    switch (stmt.kind) {
      case StmtKind::declare:
        return pad + declaration(stmt) + ";\n";
      case StmtKind::assign:
        return pad + assignment(stmt) + ";\n";
      case StmtKind::evaluate:
        return pad + expr(stmt.value) + ";\n";
      case StmtKind::branch: {
        std::string text = pad + "if (" + expr(stmt.value) + ") " + braces(stmt.body, indent);
        if (!stmt.otherwise.empty()) text += " else " + braces(stmt.otherwise, indent);
        return text + "\n";
      }
      case StmtKind::loop: {
        std::string text;
        if (stmt.unroll == kUnrollFully) text += pad + "#pragma unroll\n";
        if (stmt.unroll > 0) text += pad + "#pragma unroll " + std::to_string(stmt.unroll) + "\n";
        text += pad + "for (" + simple(stmt.init) + ";";
        if (stmt.value) text += " " + expr(stmt.value);
        text += ";";
        if (stmt.step) text += " " + simple(stmt.step);
        return text + ") " + braces(stmt.body, indent) + "\n";
      }
      case StmtKind::repeat:
        return pad + "while (" + expr(stmt.value) + ") " + braces(stmt.body, indent) + "\n";
      case StmtKind::leave:
        return pad + "return;\n";
      case StmtKind::jump:
        return pad + stmt.text + ";\n";
      case StmtKind::barrier:
        return pad + "__syncthreads();\n";
      case StmtKind::scope:
        return pad + braces(stmt.body, indent) + "\n";
      case StmtKind::opaque:
        return pad + stmt.text + "\n";
    }
    return "";
  }

  const Names* names_;
};

}  // namespace

std::string print(const ExprPtr& expr) {
  return Printer(nullptr).expr(expr);
}

std::string print(const Block& block, int indent) {
  return Printer(nullptr).block(block, indent);
}

std::string print(const Kernel& kernel) {
  return Printer(nullptr).kernel(kernel);
}

std::string print(const Unit& unit) {
  return unit.before + print(unit.kernel) + unit.after;
}

std::string canonical_text(const Unit& unit) {
  Names names;
  walk(unit.kernel.body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::declare) return;
    names.emplace(stmt.variable.name, "v" + std::to_string(names.size()));
  });
  return unit.before + Printer(&names).kernel(unit.kernel) + unit.after;
}

Candidate make_candidate(Unit unit, LaunchPlan plan) {
  Candidate candidate;
  candidate.source = print(unit);
  candidate.identity = candidate_identity(canonical_text(unit), plan);
  candidate.plan = std::move(plan);
  candidate.form = std::make_shared<UnitForm>(std::move(unit));
  return candidate;
}

}  // namespace regraph::source
