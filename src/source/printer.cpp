#include "source/printer.h"

#include "source/walk.h"

#include <utility>

namespace regraph::source {
namespace {

using Names = std::map<std::string, std::string>;

int precedence_of(const Expr& expr) {
  const auto of_literal = [](const std::string& spelling) {
    return spelling.starts_with('-') ? kUnaryPrecedence : kPostfixPrecedence;
  };
  switch (expr.kind()) {
    case ExprKind::conditional:
      return kConditionalPrecedence;
    case ExprKind::binary:
      return precedence(to<Binary>(expr).op);
    case ExprKind::unary:
    case ExprKind::cast:
      return kUnaryPrecedence;
    case ExprKind::integer_literal:
      return of_literal(to<IntegerLiteral>(expr).spelling);
    case ExprKind::floating_literal:
      return of_literal(to<FloatingLiteral>(expr).spelling);
    case ExprKind::opaque:
      return 0;
    case ExprKind::variable_reference:
    case ExprKind::builtin:
    case ExprKind::subscript:
    case ExprKind::call:
    case ExprKind::member:
    case ExprKind::list:
      return kPostfixPrecedence;
  }
  return 0;
}

std::string pragma_of(const ForLoop& loop, const std::string& pad) {
  if (loop.unroll == kUnrollFully) return pad + "#pragma unroll\n";
  return loop.unroll > 0 ? pad + "#pragma unroll " + std::to_string(loop.unroll) + "\n" : "";
}

class Printer {
 public:
  explicit Printer(const Names* names) : names_(names) {}

  std::string expr(const ExprPtr& node, int minimum = 0) const {
    std::string text = bare(*node);
    return precedence_of(*node) < minimum ? "(" + text + ")" : text;
  }

  std::string block(const Block& statements, int indent) const {
    std::string text;
    for (const StmtPtr& statement : statements)
      text += stmt(*statement, indent);
    return text;
  }

  std::string kernel(const Kernel& kernel) const {
    std::string text = kernel.extern_c ? "extern \"C\" __global__ void " : "__global__ void ";
    if (kernel.is_static) text = "static " + text;
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
    switch (node.kind()) {
      case ExprKind::integer_literal:
        return to<IntegerLiteral>(node).spelling;
      case ExprKind::floating_literal:
        return to<FloatingLiteral>(node).spelling;
      case ExprKind::builtin:
        return to<Builtin>(node).name;
      case ExprKind::opaque:
        return to<OpaqueExpression>(node).text;
      case ExprKind::variable_reference:
        return name_of(to<VariableReference>(node).name);
      case ExprKind::unary:
        return unary(to<Unary>(node));
      case ExprKind::binary:
        return binary(to<Binary>(node));
      case ExprKind::conditional: {
        const auto& choice = to<Conditional>(node);
        return expr(choice.condition, kConditionalPrecedence + 1) + " ? " + expr(choice.then) +
               " : " + expr(choice.otherwise, kConditionalPrecedence);
      }
      case ExprKind::subscript:
        return expr(to<Subscript>(node).base, kPostfixPrecedence) + "[" +
               expr(to<Subscript>(node).index) + "]";
      case ExprKind::call:
        return call(to<Call>(node));
      case ExprKind::list:
        return list(to<InitializerList>(node));
      case ExprKind::cast:
        return "(" + to<Cast>(node).target + ")" + expr(to<Cast>(node).operand, kUnaryPrecedence);
      case ExprKind::member:
        return expr(to<Member>(node).object, kPostfixPrecedence) + "." + to<Member>(node).name;
    }
    return "";
  }

  std::string unary(const Unary& node) const {
    const std::string op(spelling(node.op));
    const std::string inner = expr(node.operand, kUnaryPrecedence);
    // "- -x" must not become "--x".
    const bool clash = !inner.empty() && inner.front() == op.back();
    return op + (clash ? " " : "") + inner;
  }

  std::string binary(const Binary& node) const {
    const int level = precedence(node.op);
    return expr(node.left, level) + " " + std::string(spelling(node.op)) + " " +
           expr(node.right, level + 1);
  }

  std::string call(const Call& node) const {
    std::string text = node.function + "(";
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      text += (i == 0 ? "" : ", ") + expr(node.arguments[i]);
    }
    return text + ")";
  }

  std::string list(const InitializerList& node) const {
    std::string text = node.target + "{";
    for (std::size_t i = 0; i < node.values.size(); ++i) {
      text += (i == 0 ? "" : ", ") + expr(node.values[i]);
    }
    return text + "}";
  }

  // A declaration without indentation and semicolon.
  std::string declaration(const Declaration& stmt) const {
    const Variable& variable = stmt.variable;
    std::string text;
    if (variable.storage == Storage::shared) text += "__shared__ ";
    if (variable.storage == Storage::dynamic_shared) text += "extern __shared__ ";
    if (variable.alignment > 0) text += "__align__(" + std::to_string(variable.alignment) + ") ";
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

  std::string assignment(const Assignment& stmt) const {
    if (const auto* one = as<IntegerLiteral>(stmt.value); one != nullptr && one->value == 1) {
      if (stmt.op == AssignmentOperator::add) return "++" + expr(stmt.target, kUnaryPrecedence);
      if (stmt.op == AssignmentOperator::subtract)
        return "--" + expr(stmt.target, kUnaryPrecedence);
    }
    return expr(stmt.target) + " " + std::string(spelling(stmt.op)) + " " + expr(stmt.value);
  }

  std::string simple(const StmtPtr& stmt) const {
    if (!stmt) return "";
    const auto* declared = as<Declaration>(stmt);
    return declared != nullptr ? declaration(*declared) : assignment(to<Assignment>(stmt));
  }

  std::string braces(const Block& body, int indent) const {
    return "{\n" + block(body, indent + 2) + std::string(static_cast<std::size_t>(indent), ' ') +
           "}";
  }

  std::string branch(const Branch& stmt, int indent) const {
    std::string text = "if (" + expr(stmt.condition) + ") " + braces(stmt.body, indent);
    if (!stmt.otherwise.empty()) text += " else " + braces(stmt.otherwise, indent);
    return text;
  }

  std::string for_loop(const ForLoop& stmt, int indent) const {
    std::string text = "for (" + simple(stmt.init) + ";";
    if (stmt.condition) text += " " + expr(stmt.condition);
    text += ";";
    if (stmt.step) text += " " + simple(stmt.step);
    return text + ") " + braces(stmt.body, indent);
  }

  std::string while_loop(const WhileLoop& stmt, int indent) const {
    const std::string asked = "while (" + expr(stmt.condition) + ")";
    return stmt.asks_last ? "do " + braces(stmt.body, indent) + " " + asked + ";"
                          : asked + " " + braces(stmt.body, indent);
  }

  std::string stmt(const Stmt& stmt, int indent) const {
    const std::string pad(static_cast<std::size_t>(indent), ' ');
    switch (stmt.kind()) {
      case StmtKind::declaration:
        return pad + declaration(to<Declaration>(stmt)) + ";\n";
      case StmtKind::assignment:
        return pad + assignment(to<Assignment>(stmt)) + ";\n";
      case StmtKind::evaluation:
        return pad + expr(to<Evaluation>(stmt).value) + ";\n";
      case StmtKind::branch:
        return pad + branch(to<Branch>(stmt), indent) + "\n";
      case StmtKind::for_loop:
        return pragma_of(to<ForLoop>(stmt), pad) + pad + for_loop(to<ForLoop>(stmt), indent) + "\n";
      case StmtKind::while_loop:
        return pad + while_loop(to<WhileLoop>(stmt), indent) + "\n";
      case StmtKind::return_:
        return pad + "return;\n";
      case StmtKind::jump:
        return pad + (to<Jump>(stmt).jump == JumpKind::break_loop ? "break" : "continue") + ";\n";
      case StmtKind::barrier:
        return pad + "__syncthreads();\n";
      case StmtKind::scope:
        return pad + braces(to<Scope>(stmt).body, indent) + "\n";
      case StmtKind::opaque:
        return pad + to<OpaqueStatement>(stmt).text + "\n";
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
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr) return;
    names.emplace(declaration->variable.name, "v" + std::to_string(names.size()));
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
