// Loops of a kernel -> IR (clang_statements.h).
#include "source/build.h"
#include "source/clang_control.h"
#include "source/clang_effects.h"
#include "source/clang_loop_header.h"
#include "source/clang_statements.h"
#include "source/walk.h"

#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;

bool mentions(const Stmt& stmt, const std::string& name) {
  return variables_of(value_of(stmt)).contains(name) ||
         variables_of(target_of(stmt)).contains(name);
}

}  // namespace

bool StatementConverter::convert_init(const clang::ForStmt* loop, StmtPtr& init, Block& block) {
  if (const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
    std::string key =
        loop->getCond() != nullptr ? expressions_.text_of(loop->getCond()->getSourceRange()) : "";
    key += ";" + (loop->getInc() != nullptr ? expressions_.text_of(loop->getInc()->getSourceRange())
                                            : "");
    const clang::Decl* kept = *declarations->decl_begin();
    for (const clang::Decl* one : declarations->decls())
      if (is_asked_first(loop->getCond(), one) || keeps_last(*loop)) kept = one;
    // Those that stand in front may be there twice in one block.
    const std::string apart = key + "#" + std::to_string(expressions_.name_count());
    for (const clang::Decl* one : declarations->decls()) {
      const auto* declaration = dyn_cast<clang::VarDecl>(one);
      if (declaration == nullptr) return false;
      StmtPtr stmt = convert_declaration(declaration, one == kept ? key : apart, block);
      if (!is<Declaration>(stmt)) return false;
      if (one == kept) {
        init = std::move(stmt);
      } else if (init && mentions(*stmt, to<Declaration>(init).variable.name)) {
        return false;
      } else {
        block.push_back(std::move(stmt));
      }
    }
    return true;
  }
  if (const auto* effect = dyn_cast_or_null<clang::Expr>(loop->getInit())) {
    std::vector<const clang::Expr*> parts;
    take_apart(effect, parts);
    for (const clang::Expr* part : parts) {
      if (init) block.push_back(std::move(init));
      Block after;
      init = convert_effect(part, block, after);
      if (!is<Assignment>(init) || !after.empty()) return false;
    }
    return true;
  }
  return loop->getInit() == nullptr;
}

bool StatementConverter::convert_step(const clang::ForStmt* loop, StmtPtr& step, Block& body) {
  if (loop->getInc() == nullptr) return true;
  std::vector<const clang::Expr*> parts;
  take_apart(loop->getInc(), parts);
  if (parts.size() > 1 && has_continue(*loop->getBody())) return false;
  std::vector<StmtPtr> steps;
  std::size_t kept = 0;
  for (const clang::Expr* part : parts) {
    Block before;
    Block after;
    StmtPtr stmt = convert_effect(part, before, after);
    if (!is<Assignment>(stmt) || !before.empty() || !after.empty()) return false;
    const auto* changed = as<VariableReference>(target_of(*stmt));
    if (changed == nullptr && parts.size() > 1) return false;
    const auto* asked = dyn_cast_or_null<clang::BinaryOperator>(
        loop->getCond() != nullptr ? loop->getCond()->IgnoreParenImpCasts() : nullptr);
    if (asked != nullptr && asked->isComparisonOp() && changed != nullptr) {
      const ExprPtr left = expressions_.convert(asked->getLHS());
      const auto* name = as<VariableReference>(left);
      if (keeps_last(*loop) || (name != nullptr && name->name == changed->name))
        kept = steps.size();
    }
    steps.push_back(std::move(stmt));
  }
  // They change places with it.
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (at == kept) continue;
    const std::string& name = to<VariableReference>(target_of(*steps[at])).name;
    const auto& advanced = to<VariableReference>(target_of(*steps[kept])).name;
    if (mentions(*steps[at], advanced) || mentions(*steps[kept], name)) return false;
    body.push_back(steps[at]);
  }
  step = steps[kept];
  return true;
}

StmtPtr StatementConverter::convert_loop(const clang::ForStmt* loop, int unroll, Block& block) {
  if (loop->getConditionVariable() != nullptr) return nullptr;
  if (loop->getCond() != nullptr && has_effects(*loop->getCond()))
    return opens_ ? convert_countdown(loop, unroll, block) : nullptr;
  if (!takes_apart_ && has_several_parts(*loop)) return nullptr;
  StmtPtr init;
  Block before;
  if (!convert_init(loop, init, before)) return nullptr;
  ExprPtr condition;
  take_calls(loop->getCond(), nullptr);
  if (loop->getCond() != nullptr) condition = expressions_.convert(loop->getCond());
  Block body = convert_block(loop->getBody());
  StmtPtr step;
  if (!convert_step(loop, step, body)) return nullptr;
  auto stmt = std::make_shared<ForLoop>(std::move(init), std::move(condition), std::move(step),
                                        std::move(body));
  stmt->unroll = unroll;
  block.insert(block.end(), before.begin(), before.end());
  return at(loop->getForLoc(), std::move(stmt));
}

StmtPtr StatementConverter::convert_countdown(const clang::ForStmt* loop, int unroll,
                                              Block& block) {
  const auto* declared = dyn_cast_or_null<clang::DeclStmt>(loop->getInit());
  const auto* counter = declared != nullptr && declared->isSingleDecl()
                            ? dyn_cast<clang::VarDecl>(declared->getSingleDecl())
                            : nullptr;
  if (counter == nullptr || loop->getInc() != nullptr || !counter->hasInit() ||
      !counter->getType()->isIntegerType() || has_effects(*counter->getInit())) {
    return nullptr;
  }
  const clang::Expr* asked = loop->getCond()->IgnoreParenImpCasts();
  const bool is_unsigned = counter->getType()->isUnsignedIntegerType();
  bool is_counted = is_unsigned;  // where it would pass zero, others do not end
  if (const auto* comparison = dyn_cast<clang::BinaryOperator>(asked)) {
    const bool stops_at_zero = comparison->getOpcode() == clang::BO_GT ||
                               (is_unsigned && comparison->getOpcode() == clang::BO_NE);
    is_counted = stops_at_zero && expressions_.constant_of(comparison->getRHS()) == 0;
    asked = comparison->getLHS()->IgnoreParenImpCasts();
  }
  const auto* down = dyn_cast<clang::UnaryOperator>(asked);
  const auto* place = down != nullptr && down->getOpcode() == clang::UO_PostDec
                          ? dyn_cast<clang::DeclRefExpr>(down->getSubExpr()->IgnoreParenImpCasts())
                          : nullptr;
  if (!is_counted || place == nullptr || place->getDecl() != counter ||
      changing_variables(*loop->getBody()).contains(counter)) {
    return nullptr;
  }
  const clang::QualType type = counter->getType().getUnqualifiedType();
  const auto scalar = scalar_type_of(type);
  const std::string stem = counter->getNameAsString();
  Block before;
  ExprPtr first = value_of(counter->getInit(), before);
  if (!scalar || size_in_bytes(*scalar) < sizeof(int) || is<OpaqueExpression>(first))
    return nullptr;
  const std::string count = declare_result(stem + "_count", type, std::move(first), true, before);
  const std::string step = unique_name(stem + "_step", "of a loop");
  Block body;
  declare(*counter, subtract(subtract(variable(count, scalar), integer(1)), variable(step, scalar)),
          true, body);
  const Block repeated = convert_block(loop->getBody());
  body.insert(body.end(), repeated.begin(), repeated.end());
  auto upwards = std::make_shared<ForLoop>(
      source::declare(local_variable(step, expressions_.spelling_of(type), scalar), integer(0)),
      less(variable(step, scalar), variable(count, scalar)),
      assign(variable(step, scalar), AssignmentOperator::add, integer(1)), std::move(body));
  upwards->unroll = unroll;
  block.insert(block.end(), before.begin(), before.end());
  return at(loop->getForLoc(), std::move(upwards));
}

StmtPtr StatementConverter::convert_while(const clang::WhileStmt* repeat) {
  if (repeat->getConditionVariable() != nullptr) return nullptr;
  Block asked;
  ExprPtr condition = value_of(repeat->getCond(), asked);
  Block body;
  if (!asked.empty()) {
    const int line = expressions_.line_of(repeat->getWhileLoc());
    asked.push_back(branch(std::make_shared<Unary>(UnaryOperator::logical_not, std::move(condition),
                                                   ScalarType::boolean),
                           {std::make_shared<Jump>(JumpKind::break_loop)}, {}, line));
    condition = integer(1, "true", ScalarType::i32);
    body = std::move(asked);
  }
  const Block repeated = convert_block(repeat->getBody());
  body.insert(body.end(), repeated.begin(), repeated.end());
  return at(repeat->getWhileLoc(),
            std::make_shared<WhileLoop>(std::move(condition), std::move(body)));
}

StmtPtr StatementConverter::convert_do(const clang::DoStmt* repeat) {
  if (!takes_apart_) return nullptr;
  if (has_effects(*repeat->getCond()) && has_continue(*repeat->getBody())) return nullptr;
  Block body = convert_block(repeat->getBody());
  ExprPtr condition = value_of(repeat->getCond(), body);
  auto loop = std::make_shared<WhileLoop>(std::move(condition), std::move(body));
  loop->asks_last = true;
  return at(repeat->getDoLoc(), std::move(loop));
}

}  // namespace regraph::source
