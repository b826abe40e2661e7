// switch of a kernel -> IR: a chain of branches (clang_statements.h).
#include "source/build.h"
#include "source/clang_statements.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// What stands behind one or more labels, up to the next ones.
struct SwitchArm {
  std::vector<std::int64_t> values;
  bool is_default = false;
  std::vector<const clang::Stmt*> body;

  [[nodiscard]] bool leaves() const {
    return !body.empty() &&
           (isa<clang::BreakStmt>(body.back()) || isa<clang::ReturnStmt>(body.back()) ||
            isa<clang::ContinueStmt>(body.back()));
  }
};

// Whether a break inside of the statement would end the switch.
bool breaks_out(const clang::Stmt& node) {
  if (isa<clang::BreakStmt>(node)) return true;
  if (isa<clang::ForStmt>(node) || isa<clang::WhileStmt>(node) || isa<clang::DoStmt>(node) ||
      isa<clang::CXXForRangeStmt>(node) || isa<clang::SwitchStmt>(node)) {
    return false;
  }
  return std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
    return child != nullptr && breaks_out(*child);
  });
}

// Whether a label stands inside of the statement, as in Duff's device.
bool holds_label(const clang::Stmt& node) {
  if (isa<clang::SwitchCase>(node)) return true;
  if (isa<clang::SwitchStmt>(node)) return false;
  return std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
    return child != nullptr && holds_label(*child);
  });
}

// Reads what stands at a label into the arms; false for what no chain of branches is.
bool read_labels(const clang::Stmt* stmt, const clang::ASTContext& context,
                 std::vector<SwitchArm>& arms) {
  while (const auto* label = dyn_cast<clang::SwitchCase>(stmt)) {
    if (arms.empty() || !arms.back().body.empty()) arms.emplace_back();
    if (const auto* one = dyn_cast<clang::CaseStmt>(label)) {
      if (one->getRHS() != nullptr) return false;  // case 1 ... 3
      arms.back().values.push_back(one->getLHS()->EvaluateKnownConstInt(context).getExtValue());
    } else {
      arms.back().is_default = true;
    }
    stmt = label->getSubStmt();
  }
  if (arms.empty() || holds_label(*stmt)) return false;
  // { ...; break; }
  if (const auto* block = dyn_cast<clang::CompoundStmt>(stmt);
      block != nullptr && !block->body_empty() && isa<clang::BreakStmt>(block->body_back())) {
    arms.back().body.insert(arms.back().body.end(), block->body_begin(), block->body_end());
    return true;
  }
  arms.back().body.push_back(stmt);
  return true;
}

std::vector<SwitchArm> arms_of(const clang::SwitchStmt& choice, const clang::ASTContext& context) {
  std::vector<SwitchArm> arms;
  const auto* body = dyn_cast<clang::CompoundStmt>(choice.getBody());
  if (body == nullptr) return {};
  for (const clang::Stmt* stmt : body->body()) {
    if (!read_labels(stmt, context, arms)) return {};
  }
  for (const SwitchArm& arm : arms) {
    for (const clang::Stmt* stmt : arm.body) {
      if (stmt != arm.body.back() && isa<clang::BreakStmt>(stmt)) return {};
      if (!isa<clang::BreakStmt>(stmt) && breaks_out(*stmt)) return {};
    }
  }
  return arms;
}

}  // namespace

StmtPtr StatementConverter::convert_switch(const clang::SwitchStmt* choice, Block& before) {
  if (choice->getInit() != nullptr || choice->getConditionVariable() != nullptr) return nullptr;
  const std::vector<SwitchArm> arms = arms_of(*choice, expressions_.context());
  if (arms.empty()) return nullptr;
  const clang::QualType type = choice->getCond()->getType();
  ExprPtr selector = value_of(choice->getCond(), before);
  if (is<OpaqueExpression>(selector)) return nullptr;
  if (choice->getCond()->IgnoreParenImpCasts()->getType()->isEnumeralType())
    selector = cast(expressions_.spelling_of(type.getCanonicalType()), std::move(selector));
  if (!is<VariableReference>(selector) && !is<IntegerLiteral>(selector)) {
    selector = variable(
        declare_result("selector", type.getCanonicalType(), std::move(selector), true, before),
        scalar_type_of(type));
  }
  const auto body_from = [&](std::size_t first) {
    Block body;
    for (std::size_t arm = first; arm < arms.size(); ++arm) {
      for (const clang::Stmt* stmt : arms[arm].body)
        if (!isa<clang::BreakStmt>(stmt)) convert_into(stmt, body);
      if (arms[arm].leaves()) break;
    }
    return body;
  };
  Block otherwise;
  for (std::size_t arm = 0; arm < arms.size(); ++arm)
    if (arms[arm].is_default) otherwise = body_from(arm);
  for (std::size_t arm = arms.size(); arm-- > 0;) {
    if (arms[arm].is_default) continue;
    ExprPtr condition;
    for (const std::int64_t value : arms[arm].values) {
      ExprPtr is_value = equals(selector, integer(value));
      condition = condition ? binary(BinaryOperator::logical_or, condition, is_value) : is_value;
    }
    otherwise = {branch(std::move(condition), body_from(arm), std::move(otherwise),
                        expressions_.line_of(choice->getSwitchLoc()))};
  }
  return otherwise.size() == 1 ? otherwise.front() : scope(std::move(otherwise));
}

}  // namespace regraph::source
