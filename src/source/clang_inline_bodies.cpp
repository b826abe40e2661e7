// Bodies of functions that are taken into the kernel's, and what they return: what CallInliner does
// with them.
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_function_body.h"
#include "source/clang_inline.h"

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Whether values of the object's own members are used, other than as arrays.
bool reads_members(const clang::Stmt& node) {
  const auto* access = dyn_cast<clang::MemberExpr>(&node);
  if (access != nullptr && !access->getType()->isArrayType() &&
      isa<clang::CXXThisExpr>(access->getBase()->IgnoreParenImpCasts())) {
    return true;
  }
  return std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
    return child != nullptr && reads_members(*child);
  });
}

}  // namespace

bool CallInliner::convert_body(const std::vector<const clang::Stmt*>& body, Outcome& outcome,
                               Block& block) {
  for (std::size_t at = 0; at < body.size(); ++at) {
    const clang::Stmt* stmt = body[at];
    if (const auto* leave = dyn_cast<clang::ReturnStmt>(stmt)) {
      return leave->getRetValue() == nullptr || return_value(*leave->getRetValue(), outcome, block);
    }
    const auto* choice = dyn_cast<clang::IfStmt>(stmt);
    if (choice != nullptr && choice->isConstexpr()) {
      bool holds = false;
      if (!choice->getCond()->EvaluateAsBooleanCondition(holds, expressions_.context()))
        return false;
      std::vector<const clang::Stmt*> taken =
          statements_of(holds ? choice->getThen() : choice->getElse());
      taken.insert(taken.end(), body.begin() + static_cast<std::ptrdiff_t>(at) + 1, body.end());
      return convert_body(taken, outcome, block);
    }
    if (!holds_return(*stmt)) {
      bodies_.convert_into(stmt, block);
      continue;
    }
    // if (condition) { ...; return ...; } and the rest.
    const bool is_taken = !outcome.result.empty() || outcome.result_object.has_value();
    if (choice == nullptr) return give_up("which returns from within a loop or a block");
    if (choice->getInit() != nullptr || choice->getConditionVariable() != nullptr ||
        (!is_taken && !outcome.type->isVoidType())) {
      return false;
    }
    const std::vector<const clang::Stmt*> then = statements_of(choice->getThen());
    if (then.empty() || !isa<clang::ReturnStmt>(then.back()))
      return give_up("which returns in part of a branch");
    std::vector<const clang::Stmt*> rest = statements_of(choice->getElse());
    rest.insert(rest.end(), body.begin() + static_cast<std::ptrdiff_t>(at) + 1, body.end());
    take_calls(choice->getCond(), &block);
    if (failed_ || has_effects(*choice->getCond())) return false;
    ExprPtr condition = expressions_.convert(choice->getCond());
    Block yes;
    Block no;
    if (!convert_body(then, outcome, yes) || !convert_body(rest, outcome, no)) {
      return false;
    }
    block.push_back(branch(std::move(condition), std::move(yes), std::move(no),
                           expressions_.line_of(choice->getIfLoc())));
    return true;
  }
  return outcome.type->isVoidType();
}

bool CallInliner::return_value(const clang::Expr& returned, Outcome& outcome, Block& block) {
  take_calls(&returned, &block);
  if (failed_) return false;
  const auto scalar = scalar_type_of(outcome.type);
  if (outcome.record == nullptr && outcome.type->isReferenceType()) {
    outcome.value = place_of(returned, block);
    return outcome.value != nullptr;
  }
  if (outcome.record == nullptr) {
    ExprPtr value = expressions_.convert(&returned);
    if (!outcome.result.empty()) {
      block.push_back(assign(variable(outcome.result, scalar), std::move(value)));
    } else {
      outcome.value = variable(
          bodies_.declare_result("result", outcome.type, std::move(value), true, block), scalar);
    }
    return true;
  }
  std::optional<Object> object = object_value(returned, block);
  if (!object) return false;
  if (outcome.result_object) {
    assign_fields(*outcome.record, *outcome.result_object, *object, block);
  } else if (outcome.type->isReferenceType()) {
    outcome.object = std::move(object);  // another name of it
  } else {
    outcome.object = in_variables(*outcome.record, *object, "result", true, block);
  }
  return true;
}

bool CallInliner::stays_where_it_is(const clang::Expr& base) const {
  const clang::Expr* inner = base.IgnoreParenImpCasts();
  if (inner->getType()->isArrayType()) return true;
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner))
    return !bodies_.is_changing(*reference->getDecl());
  const auto* access = dyn_cast<clang::MemberExpr>(inner);
  return access != nullptr && isa<clang::CXXThisExpr>(access->getBase()->IgnoreParenImpCasts()) &&
         !owner_changes_;
}

ExprPtr CallInliner::place_of(const clang::Expr& returned, Block& block) {
  if (!returned.isLValue() || has_effects(returned)) return nullptr;
  ExprPtr place = expressions_.convert(&returned);
  if (is<OpaqueExpression>(place)) return nullptr;
  const bool moves = owner_changes_ && reads_members(returned);
  if (!moves && bodies_.is_fixed(returned)) return place;
  // The index is what it was when the function returned.
  const auto* access = dyn_cast<clang::ArraySubscriptExpr>(returned.IgnoreParenImpCasts());
  const auto* element = as<Subscript>(place);
  if (access == nullptr || element == nullptr || !stays_where_it_is(*access->getBase())) {
    give_up("which returns a place that may become another one");
    return nullptr;
  }
  const clang::QualType type = access->getIdx()->getType();
  const std::string index = bodies_.declare_result("index", type, element->index, true, block);
  return std::make_shared<Subscript>(element->base, variable(index, scalar_type_of(type)),
                                     element->type);
}

}  // namespace regraph::source
