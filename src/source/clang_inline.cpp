#include "source/clang_inline.h"

#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_records.h"
#include "source/known_functions.h"
#include "source/walk.h"

#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

bool holds_return(const clang::Stmt& node) {
  if (isa<clang::ReturnStmt>(node)) return true;
  return std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
    return child != nullptr && holds_return(*child);
  });
}

// A body's statements, without the braces.
std::vector<const clang::Stmt*> statements_of(const clang::Stmt* node) {
  if (node == nullptr) return {};
  const auto* compound = dyn_cast<clang::CompoundStmt>(node);
  if (compound == nullptr) return {node};
  return {compound->body_begin(), compound->body_end()};
}

// The value of a function that is `return value;`, null for others.
const clang::Expr* single_value(const clang::FunctionDecl& function) {
  const std::vector<const clang::Stmt*> body = statements_of(function.getBody());
  const auto* leave = body.size() == 1 ? dyn_cast<clang::ReturnStmt>(body.front()) : nullptr;
  return leave != nullptr ? leave->getRetValue() : nullptr;
}

// What results of the function are called.
std::string stem_of(const clang::FunctionDecl& function) {
  return function.getIdentifier() != nullptr ? function.getNameAsString() + "_result" : "result";
}

int uses_of(const clang::Stmt* node, const clang::ValueDecl& variable) {
  if (node == nullptr) return 0;
  const auto* reference = dyn_cast<clang::DeclRefExpr>(node);
  if (reference != nullptr) return reference->getDecl() == &variable ? 1 : 0;
  int uses = 0;
  for (const clang::Stmt* child : node->children())
    uses += uses_of(child, variable);
  return uses;
}

// Whether a member of the object itself is changed or handed out.
bool changes_members(const clang::Stmt* node) {
  if (node == nullptr) return false;
  const auto is_member = [](const clang::Expr* place) {
    const clang::Expr* inner = place->IgnoreParenImpCasts();
    while (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
      inner = access->getBase()->IgnoreParenImpCasts();
      if (isa<clang::CXXThisExpr>(inner)) return true;
    }
    return false;
  };
  if (const auto* op = dyn_cast<clang::BinaryOperator>(node);
      op != nullptr && op->isAssignmentOp() && is_member(op->getLHS())) {
    return true;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(node);
      op != nullptr && (op->isIncrementDecrementOp() || op->getOpcode() == clang::UO_AddrOf) &&
      is_member(op->getSubExpr())) {
    return true;
  }
  return std::ranges::any_of(node->children(),
                             [](const clang::Stmt* child) { return changes_members(child); });
}

}  // namespace

// Whether what a lambda captured is what the variables are when it is called.
bool CallInliner::keeps_captured(const clang::CXXRecordDecl& closure) const {
  return std::ranges::all_of(closure.captures(), [&](const clang::LambdaCapture& capture) {
    if (!capture.capturesVariable()) return false;
    return capture.getCaptureKind() == clang::LCK_ByRef ||
           !bodies_.is_changing(*capture.getCapturedVar());
  });
}

const clang::FunctionDecl* CallInliner::wanted(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) return nullptr;
  const clang::FunctionDecl* function = nullptr;
  if (callee->getBody(function) == nullptr || function == nullptr) return nullptr;
  const clang::SourceManager& sources = expressions_.context().getSourceManager();
  if (!sources.isWrittenInMainFile(sources.getExpansionLoc(function->getLocation())))
    return nullptr;
  if (handles_objects(*function)) return function;
  const CallEffect effect = callees_.of(*function);
  const bool is_pure = effect == CallEffect::pure;
  // Steps that need not look into it take a call that only uses memory as it is.
  if (effect == CallEffect::memory && !opens_memory_calls_ && !is_inside() &&
      !isa<clang::CXXMethodDecl>(function)) {
    return nullptr;
  }
  // From inside another function its name might not lead to it.
  if (is_pure && !is_inside() && !isa<clang::CXXMethodDecl>(function) &&
      single_value(*function) == nullptr) {
    return nullptr;
  }
  return function;
}

void CallInliner::take_calls(const clang::Expr* expr, Block* block) {
  if (expr == nullptr || failed_) return;
  const clang::Expr* inner = expr->IgnoreParenImpCasts();
  if (const auto* given = dyn_cast<clang::CXXDefaultArgExpr>(inner)) inner = given->getExpr();
  if (const auto* given = dyn_cast<clang::CXXDefaultInitExpr>(inner)) inner = given->getExpr();
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(inner)) {
    take_calls(choice->getCond(), block);
    take_calls(choice->getTrueExpr(), nullptr);
    take_calls(choice->getFalseExpr(), nullptr);
    return;
  }
  if (const auto* op = dyn_cast<clang::BinaryOperator>(inner); op != nullptr && op->isLogicalOp()) {
    take_calls(op->getLHS(), block);
    take_calls(op->getRHS(), nullptr);
    return;
  }
  if (isa<clang::LambdaExpr>(inner)) return;
  if (const auto* list = dyn_cast<clang::InitListExpr>(inner)) {
    take_calls_in_order(*list, block);
    return;
  }
  const auto* call = dyn_cast<clang::CallExpr>(inner);
  if (call != nullptr && wanted(*call) != nullptr) {
    take_call(*call, block);
    return;
  }
  for (const clang::Stmt* child : inner->children()) {
    if (const auto* part = dyn_cast_or_null<clang::Expr>(child)) take_calls(part, block);
  }
}

// Values of a list are computed from left to right: what a later one does must not come before an
// earlier one is read.
void CallInliner::take_calls_in_order(const clang::InitListExpr& list, Block* block) {
  bool is_first = true;
  for (const clang::Expr* value : list.inits()) {
    const std::size_t before = block != nullptr ? block->size() : 0;
    take_calls(value, block);
    failed_ = failed_ || (!is_first && block != nullptr && changes_anything(*block, before));
    is_first = false;
  }
}

bool CallInliner::changes_anything(const Block& block, std::size_t from) {
  bool result = false;
  for (std::size_t at = from; at < block.size(); ++at) {
    result = result || !is<Declaration>(block[at]);
    walk_expressions({block[at]}, [&](const Expr& expr) {
      const auto* call = as<Call>(expr);
      result = result || (call != nullptr && !is_pure(*call));
    });
  }
  return result;
}

void CallInliner::take_call(const clang::CallExpr& call, Block* block) {
  const clang::FunctionDecl* function = wanted(call);
  Block code;
  std::vector<const clang::Expr*> arguments(call.arg_begin(), call.arg_end());
  const clang::Expr* object = nullptr;
  const auto* method = dyn_cast<clang::CXXMethodDecl>(function);
  if (const auto* of_member = dyn_cast<clang::CXXMemberCallExpr>(&call)) {
    object = of_member->getImplicitObjectArgument();
  } else if (isa<clang::CXXOperatorCallExpr>(&call) && method != nullptr && !arguments.empty()) {
    object = arguments.front();
    arguments.erase(arguments.begin());
  }
  for (const clang::Expr* argument : arguments)
    take_calls(argument, &code);
  const clang::Stmt* body = function->getBody();
  const clang::Expr* single = single_value(*function);
  failed_ =
      failed_ || !active_.insert(function).second || arguments.size() != function->getNumParams();
  if (failed_) return;
  expressions_.set_elsewhere(true);
  bodies_.note_changing(*body);
  std::optional<Object> owner;
  if (method != nullptr && method->isInstance()) {
    // What a lambda refers to is known by name.
    const bool is_lambda = method->getParent()->isLambda();
    failed_ = failed_ || (is_lambda && !keeps_captured(*method->getParent()));
    const bool has_fields =
        object != nullptr && !is_lambda &&
        !is_empty_record(object->getType()->isPointerType() ? object->getType()->getPointeeType()
                                                            : object->getType());
    // Of `this` the fields are known already.
    const bool is_own = has_fields && isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts());
    if (has_fields && !is_own) {
      owner = owner_of_call(*object, changes_members(body), code);
      failed_ = failed_ || !owner;
    }
  }
  if (!failed_) failed_ = !bind(*function, arguments, single, code);
  if (failed_) return;
  const bool has_owner = owner.has_value();
  std::optional<Object> before;
  if (has_owner) before = expressions_.exchange_this(std::move(owner));
  const clang::QualType type = function->getReturnType();
  Outcome outcome{.type = type,
                  .record = flat_record(type.getNonReferenceType(), expressions_.context())};
  const bool is_place = type->isReferenceType();
  failed_ = single != nullptr && type->isVoidType();
  if (single != nullptr && outcome.record == nullptr) {
    take_calls(single, &code);
    ExprPtr value = expressions_.convert(single);
    const auto scalar = scalar_type_of(type);
    if (scalar && value->type != scalar) value = cast(std::string(cuda_name(*scalar)), value);
    // What a call of its own read must not be read again later; where the call may not be
    // evaluated, what it reads is read in its place.
    if (block != nullptr && !is_value_of_parameters(*single) && !type->isVoidType() &&
        !type->isPointerType() && !is_place) {
      value = variable(bodies_.declare_result(stem_of(*function), type, value, true, code), scalar);
    }
    outcome.value = std::move(value);
  } else {
    const std::vector<const clang::Stmt*> statements = statements_of(body);
    const bool has_choices = std::ranges::any_of(statements, [](const clang::Stmt* stmt) {
      return !isa<clang::ReturnStmt>(stmt) && holds_return(*stmt);
    });
    failed_ = has_choices && is_place;  // one of several
    if (has_choices && !type->isVoidType()) {
      if (outcome.record != nullptr) {
        outcome.result_object = in_variables(*outcome.record, {}, stem_of(*function), false, code);
        outcome.object = outcome.result_object;
      } else {
        outcome.result = bodies_.declare_result(stem_of(*function), type, nullptr, false, code);
        outcome.value = variable(outcome.result, scalar_type_of(type));
      }
    }
    const bool is_converted = !failed_ && convert_body(statements, outcome, code);
    failed_ = failed_ || !is_converted ||
              (!type->isVoidType() && !outcome.value && !outcome.object) ||
              (is_place && outcome.record == nullptr);
  }
  if (has_owner) (void)expressions_.exchange_this(std::move(before));
  active_.erase(function);
  expressions_.set_elsewhere(is_inside());
  const bool has_no_place = block == nullptr && !code.empty();
  const bool may_stay =
      !is_inside() && method == nullptr && !failed_ && callees_.of(*function) == CallEffect::pure;
  if (has_no_place && may_stay) return;
  failed_ = failed_ || has_no_place;
  if (failed_) return;
  took_any_ = true;
  if (block != nullptr) block->insert(block->end(), code.begin(), code.end());
  if (outcome.object) {
    expressions_.set_object_value(&call, std::move(*outcome.object));
  } else {
    expressions_.set_value(&call, std::move(outcome.value));
  }
}

// Whether nothing but parameters, and what is computed of them, makes the value.
bool CallInliner::is_value_of_parameters(const clang::Stmt& node) {
  if (isa<clang::ArraySubscriptExpr>(node) || isa<clang::PseudoObjectExpr>(node) ||
      isa<clang::CXXThisExpr>(node)) {
    return false;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(&node);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    return false;
  }
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(&node)) {
    const auto* used = dyn_cast<clang::VarDecl>(reference->getDecl());
    if (used != nullptr && !isa<clang::ParmVarDecl>(used)) return false;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(&node)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callees_.of(*callee) != CallEffect::pure) return false;
  }
  return std::ranges::all_of(node.children(), [&](const clang::Stmt* child) {
    return child == nullptr || is_value_of_parameters(*child);
  });
}

// Whether the value may as well be computed later: no memory, nothing that changes.
bool CallInliner::stays_the_same(const clang::Stmt& node) const {
  if (isa<clang::ArraySubscriptExpr>(node) || isa<clang::CallExpr>(node) ||
      isa<clang::CXXThisExpr>(node)) {
    return false;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(&node);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    return false;
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(&node);
  if (reference != nullptr && bodies_.is_changing(*reference->getDecl())) return false;
  return std::ranges::all_of(node.children(), [&](const clang::Stmt* child) {
    return child == nullptr || stays_the_same(*child);
  });
}

// What is passed is written where the call stands.
ExprPtr CallInliner::convert_passed(const clang::Expr& argument) {
  expressions_.set_elsewhere(active_.size() > 1);
  ExprPtr value = expressions_.convert(&argument);
  expressions_.set_elsewhere(true);
  return value;
}

bool CallInliner::bind(const clang::FunctionDecl& function,
                       const std::vector<const clang::Expr*>& arguments, const clang::Expr* single,
                       Block& block) {
  for (unsigned at = 0; at < function.getNumParams(); ++at) {
    const clang::ParmVarDecl& parameter = *function.getParamDecl(at);
    const clang::QualType type = parameter.getType();
    if (is_empty_record(type) || is_lambda(type)) continue;
    const clang::Expr& argument = *arguments[at];
    if (components_of(type.getNonReferenceType(), expressions_.context()).first &&
        type.getNonReferenceType()->isRecordType()) {
      if (!bind_vector(function, parameter, argument, block)) return false;
      continue;
    }
    if (type.getNonReferenceType()->isRecordType() && !scalar_type_of(type.getNonReferenceType())) {
      if (!bind_object(parameter, argument, block)) return false;
      continue;
    }
    // An array of objects.
    if (type->isPointerType() && flat_record(type->getPointeeType(), expressions_.context())) {
      expressions_.set_elsewhere(active_.size() > 1);
      auto array = expressions_.object_at(&argument);
      expressions_.set_elsewhere(true);
      if (array) {
        expressions_.set_object(&parameter, std::move(*array));
        continue;
      }
    }
    if (!type->isReferenceType() || type.getNonReferenceType().isConstQualified()) {
      if (!bind_value(parameter, argument, single, block)) return false;
      continue;
    }
    // Another name of a variable; of anything else it might move.
    const auto* place = dyn_cast<clang::DeclRefExpr>(bare_value(&argument));
    if (place == nullptr) return false;
    expressions_.set_meaning(&parameter, convert_passed(*place));
  }
  return true;
}

bool CallInliner::bind_value(const clang::ParmVarDecl& parameter, const clang::Expr& argument,
                             const clang::Expr* single, Block& block) {
  clang::ASTContext& context = expressions_.context();
  const clang::Expr* inner = bare_value(&argument);
  if (has_effects(*inner)) return false;
  const clang::QualType type = parameter.getType().getNonReferenceType();
  if (!scalar_type_of(type) && !type->isPointerType()) return false;
  if (type->isFunctionPointerType()) return false;
  const ExprPtr value = convert_passed(*inner);
  const bool is_array = inner->getType()->isArrayType();
  const bool same =
      is_array ||
      context.hasSameUnqualifiedType(
          context.getCanonicalType(inner->getType()).getUnqualifiedType(),
          context.getCanonicalType(type).getUnqualifiedType()) ||
      (type->isPointerType() && inner->getType()->isPointerType() &&
       context.hasSameUnqualifiedType(type->getPointeeType().getUnqualifiedType(),
                                      inner->getType()->getPointeeType().getUnqualifiedType()));
  const bool is_changing = bodies_.is_changing(parameter);
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  // What a reference leads to may change on the way.
  const bool is_moving = parameter.getType()->isReferenceType() && inner->isLValue() &&
                         (reference == nullptr || bodies_.is_changing(*reference->getDecl()));
  if (is_moving && (single == nullptr || !is_value_of_parameters(*single))) return false;
  // What has one value may stand for the parameter, and so may anything that is used once at once.
  const bool is_fixed = isa<clang::IntegerLiteral>(inner) || isa<clang::FloatingLiteral>(inner) ||
                        is_array ||
                        (reference != nullptr && !bodies_.is_changing(*reference->getDecl())) ||
                        (reference != nullptr && single != nullptr) ||
                        (single != nullptr && uses_of(single, parameter) <= 1);
  if (same && !is_changing && is_fixed) {
    expressions_.set_meaning(&parameter, value);
    return true;
  }
  expressions_.forget_meaning(&parameter);
  bodies_.declare(parameter, value, !is_changing, block);
  return true;
}

// `outcome` gets what the last statement returns, unless variables take it.
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
    if (choice == nullptr || choice->getInit() != nullptr ||
        choice->getConditionVariable() != nullptr || (!is_taken && !outcome.type->isVoidType())) {
      return false;
    }
    const std::vector<const clang::Stmt*> then = statements_of(choice->getThen());
    if (then.empty() || !isa<clang::ReturnStmt>(then.back())) return false;
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

}  // namespace regraph::source
