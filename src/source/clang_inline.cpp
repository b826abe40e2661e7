#include "source/clang_inline.h"

#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_function_body.h"
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

bool holds_assembler(const clang::Stmt& node) {
  return isa<clang::AsmStmt>(node) ||
         std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
           return child != nullptr && holds_assembler(*child);
         });
}

// What results of the function are called.
std::string stem_of(const clang::FunctionDecl& function) {
  return function.getIdentifier() != nullptr ? function.getNameAsString() + "_result" : "result";
}

}  // namespace

bool CallInliner::keeps_captured(const clang::CXXRecordDecl& closure) const {
  return std::ranges::all_of(closure.captures(), [&](const clang::LambdaCapture& capture) {
    if (!capture.capturesVariable()) return false;
    return capture.getCaptureKind() == clang::LCK_ByRef ||
           !bodies_.is_changing(*capture.getCapturedVar());
  });
}

const clang::FunctionDecl* CallInliner::wanted(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = called_function(call, expressions_.context());
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
  // Assembler has no form, a call of what computes by it has.
  if (is_pure && !isa<clang::CXXMethodDecl>(function) && holds_assembler(*function->getBody()))
    return nullptr;
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
    if (const auto holds = decided(*choice->getCond(), expressions_.context())) {
      take_calls(*holds ? choice->getTrueExpr() : choice->getFalseExpr(), block);
      return;
    }
    take_calls_of_choice(*choice, block);
    return;
  }
  if (const auto* op = dyn_cast<clang::BinaryOperator>(inner); op != nullptr && op->isLogicalOp()) {
    if (const auto left = decided(*op->getLHS(), expressions_.context())) {
      // What a constant decides is not evaluated.
      if (*left == (op->getOpcode() == clang::BO_LAnd)) take_calls(op->getRHS(), block);
      return;
    }
    take_calls_of_condition(*op, block);
    return;
  }
  if (isa<clang::LambdaExpr>(inner)) return;
  if (const auto* list = dyn_cast<clang::InitListExpr>(inner)) {
    take_calls_in_order(*list, block);
    return;
  }
  const auto* access = dyn_cast<clang::MemberExpr>(inner);
  if (access != nullptr && library_index(*access)) return;
  const auto* call = dyn_cast<clang::CallExpr>(inner);
  if (call != nullptr && LibraryCalls::is_library_call(*call)) {
    take_library_call(*call, block);
    note_obstacle(*call);
    return;
  }
  if (call != nullptr && wanted(*call) != nullptr) {
    take_call(*call, block);
    note_obstacle(*call);
    return;
  }
  for (const clang::Stmt* child : inner->children()) {
    if (const auto* part = dyn_cast_or_null<clang::Expr>(child)) take_calls(part, block);
  }
}

bool CallInliner::has_statements(const clang::Stmt* node,
                                 std::set<const clang::FunctionDecl*>& seen) {
  if (node == nullptr || isa<clang::LambdaExpr>(node)) return false;
  if (const auto* call = dyn_cast<clang::CallExpr>(node)) {
    if (LibraryCalls::is_library_call(*call)) return true;
    const clang::FunctionDecl* function = wanted(*call);
    const clang::Expr* single = function != nullptr ? single_value(*function) : nullptr;
    if (function != nullptr && single == nullptr) return true;
    if (single != nullptr && seen.insert(function).second && has_statements(single, seen))
      return true;
  }
  return std::ranges::any_of(node->children(),
                             [&](const clang::Stmt* child) { return has_statements(child, seen); });
}

bool CallInliner::set_to_side(const std::string& name, clang::QualType type,
                              const clang::Expr& side, Block& block) {
  take_calls(&side, &block);
  if (failed_) return false;
  block.push_back(assign(variable(name, scalar_type_of(type)), expressions_.convert(&side)));
  return true;
}

void CallInliner::take_calls_of_choice(const clang::ConditionalOperator& choice, Block* block) {
  const clang::QualType type = choice.getType();
  std::set<const clang::FunctionDecl*> seen;
  take_calls(choice.getCond(), block);
  const bool is_branch =
      block != nullptr && scalar_type_of(type) && !has_effects(choice) &&
      (has_statements(choice.getTrueExpr(), seen) || has_statements(choice.getFalseExpr(), seen));
  if (!is_branch) {
    take_calls(choice.getTrueExpr(), nullptr);
    take_calls(choice.getFalseExpr(), nullptr);
    return;
  }
  if (failed_) return;
  ExprPtr condition = expressions_.convert(choice.getCond());
  const std::string name = bodies_.declare_result("chosen", type, nullptr, false, *block);
  Block then;
  Block otherwise;
  if (!set_to_side(name, type, *choice.getTrueExpr(), then) ||
      !set_to_side(name, type, *choice.getFalseExpr(), otherwise)) {
    return;
  }
  block->push_back(branch(std::move(condition), std::move(then), std::move(otherwise),
                          expressions_.line_of(choice.getQuestionLoc())));
  expressions_.set_value(&choice, variable(name, scalar_type_of(type)));
}

void CallInliner::take_calls_of_condition(const clang::BinaryOperator& condition, Block* block) {
  std::set<const clang::FunctionDecl*> seen;
  take_calls(condition.getLHS(), block);
  const bool is_branch =
      block != nullptr && !has_effects(condition) && has_statements(condition.getRHS(), seen);
  if (!is_branch) {
    take_calls(condition.getRHS(), nullptr);
    return;
  }
  if (failed_) return;
  // The right side is asked for where the left does not decide.
  const clang::QualType type = expressions_.context().BoolTy;
  const std::string name = bodies_.declare_result(
      "holds", type, expressions_.convert(condition.getLHS()), false, *block);
  const ExprPtr holds = variable(name, ScalarType::boolean);
  Block asked;
  if (!set_to_side(name, type, *condition.getRHS(), asked)) return;
  const bool asks_if_holds = condition.getOpcode() == clang::BO_LAnd;
  block->push_back(branch(asks_if_holds ? holds : unary(UnaryOperator::logical_not, holds),
                          std::move(asked), {}, expressions_.line_of(condition.getOperatorLoc())));
  expressions_.set_value(&condition, holds);
}

LibraryCallPlace CallInliner::place_in(BodyConverter& bodies) {
  return {[&bodies](const std::string& stem, clang::QualType type, ExprPtr value, bool is_const,
                    Block& block) {
            return bodies.declare_result(stem, type, std::move(value), is_const, block);
          },
          [&bodies](const std::string& stem, clang::QualType type, std::int64_t extent) {
            return bodies.declare_shared(stem, type, extent);
          }};
}

void CallInliner::take_library_call(const clang::CallExpr& call, Block* block) {
  for (const clang::Expr* argument : LibraryCalls::values_of(call))
    take_calls(argument, block);
  ExprPtr value;
  failed_ = failed_ || !library_.write_out(call, block, value);
  if (failed_) return;
  took_any_ = true;
  if (value) expressions_.set_value(&call, std::move(value));
}

void CallInliner::note_obstacle(const clang::CallExpr& call) {
  if (!failed_ || !obstacle_.empty()) return;
  constexpr std::size_t kLongest = 60;
  obstacle_ = "line " + std::to_string(expressions_.line_of(call.getBeginLoc())) + ": '" +
              expressions_.text_of(call.getSourceRange()).substr(0, kLongest) + "'";
  if (!reason_.empty()) obstacle_ += ", " + reason_;
}

bool CallInliner::give_up(std::string reason) {
  failed_ = true;
  if (reason_.empty()) reason_ = std::move(reason);
  return false;
}

void CallInliner::take_calls_in_order(const clang::InitListExpr& list, Block* block) {
  bool is_first = true;
  for (const clang::Expr* value : list.inits()) {
    const std::size_t before = block != nullptr ? block->size() : 0;
    take_calls(value, block);
    if (!is_first && block != nullptr && changes_anything(*block, before))
      give_up("which does something between values of a list");
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

bool CallInliner::is_changing_object(const clang::Expr& object) const {
  const clang::Expr* inner = bare_value(&object);
  while (isa<clang::MemberExpr, clang::ArraySubscriptExpr>(inner)) {
    const auto* access = dyn_cast<clang::MemberExpr>(inner);
    inner =
        bare_value(access != nullptr ? access->getBase()
                                     : clang::cast<clang::ArraySubscriptExpr>(inner)->getBase());
  }
  if (isa<clang::CXXThisExpr>(inner)) return owner_changes_;
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner))
    return bodies_.is_changing(*reference->getDecl());
  return inner->isLValue();
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
  if (failed_) return;
  if (!active_.insert(function).second) give_up("which calls itself");
  if (arguments.size() != function->getNumParams()) give_up("which takes any number of arguments");
  if (failed_) return;
  expressions_.set_elsewhere(true);
  bodies_.note_changing(*body);
  std::optional<Object> owner;
  if (method != nullptr && method->isInstance()) {
    // What a lambda refers to is known by name.
    const bool is_lambda = method->getParent()->isLambda();
    if (is_lambda && !keeps_captured(*method->getParent()))
      give_up("a lambda that captured what changes since");
    const bool has_fields =
        object != nullptr && !is_lambda &&
        !is_empty_record(object->getType()->isPointerType() ? object->getType()->getPointeeType()
                                                            : object->getType());
    // Of `this` the fields are known already.
    const bool is_own = has_fields && isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts());
    if (has_fields && !is_own) {
      owner = owner_of_call(*object, changes_members(body), code);
      if (!owner) give_up("whose object is not known by its members");
    }
  }
  if (!failed_ && !bind(*function, arguments, single, code))
    give_up("which is passed something that has no form");
  if (failed_) return;
  const bool has_owner = owner.has_value();
  const bool owner_changed = owner_changes_;
  if (has_owner) owner_changes_ = is_changing_object(*object);
  std::optional<Object> before;
  if (has_owner) before = expressions_.exchange_this(std::move(owner));
  const clang::QualType type = function->getReturnType();
  Outcome outcome{.type = type,
                  .record = flat_record(type.getNonReferenceType(), expressions_.context())};
  const bool is_place = type->isReferenceType();
  if (single != nullptr && type->isVoidType()) give_up("which returns what another one does");
  if (single != nullptr && outcome.record == nullptr) {
    take_calls(single, &code);
    ExprPtr value = is_place && block != nullptr && !failed_ ? place_of(*single, code)
                                                             : expressions_.convert(single);
    if (!value) give_up("which returns a place that has no form");
    if (failed_) return;
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
    if (has_choices && is_place) give_up("which returns one of several places");
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
    if (!is_converted || (!type->isVoidType() && !outcome.value && !outcome.object))
      give_up("whose body has no form");
  }
  if (has_owner) (void)expressions_.exchange_this(std::move(before));
  owner_changes_ = owner_changed;
  active_.erase(function);
  expressions_.set_elsewhere(is_inside());
  const bool has_no_place = block == nullptr && !code.empty();
  const bool may_stay =
      !is_inside() && method == nullptr && !failed_ && callees_.of(*function) == CallEffect::pure;
  if (has_no_place && may_stay) return;
  if (has_no_place) give_up("which has statements and stands where it may not be evaluated");
  if (failed_) return;
  took_any_ = true;
  if (block != nullptr) block->insert(block->end(), code.begin(), code.end());
  if (outcome.object) {
    expressions_.set_object_value(&call, std::move(*outcome.object));
  } else {
    expressions_.set_value(&call, std::move(outcome.value));
  }
}

}  // namespace regraph::source
