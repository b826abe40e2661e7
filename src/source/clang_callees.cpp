#include "source/clang_callees.h"

#include "source/clang_effects.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Whether something can be reached through a value of the type that the function was not given.
bool holds_pointer(clang::QualType type) {
  if (type->isPointerType() || type->isMemberPointerType()) return true;
  if (type->isReferenceType()) {
    const clang::QualType of = type.getNonReferenceType();
    return !of.isConstQualified() || holds_pointer(of);
  }
  if (const auto* array = type->getAsArrayTypeUnsafe())
    return holds_pointer(array->getElementType());
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr) return false;
  if (!record->hasDefinition()) return true;
  return std::ranges::any_of(record->fields(),
                             [](const auto* field) { return holds_pointer(field->getType()); }) ||
         std::ranges::any_of(record->bases(),
                             [](const auto& base) { return holds_pointer(base.getType()); });
}

bool is_given_pointers(const clang::FunctionDecl& function) {
  return std::ranges::any_of(function.parameters(), [](const clang::ParmVarDecl* parameter) {
    return holds_pointer(parameter->getType());
  });
}

// The address or name of a variable of the function itself.
bool is_own_place(const clang::Expr* argument) {
  const clang::Expr* inner = argument->IgnoreParenImpCasts();
  if (const auto* address = dyn_cast<clang::UnaryOperator>(inner);
      address != nullptr && address->getOpcode() == clang::UO_AddrOf) {
    inner = address->getSubExpr()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  const auto* variable =
      reference != nullptr ? dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  return variable != nullptr && variable->hasLocalStorage() &&
         !variable->getType()->isPointerType() && !variable->getType()->isReferenceType();
}

// Loops that count: a condition that compares, and a step.
bool counts(const clang::ForStmt& loop) {
  const auto* condition =
      loop.getCond() != nullptr
          ? dyn_cast<clang::BinaryOperator>(loop.getCond()->IgnoreParenImpCasts())
          : nullptr;
  return condition != nullptr && condition->isRelationalOp() && loop.getInc() != nullptr;
}

// The function whose address an initial value is; null for others.
const clang::FunctionDecl* function_at(const clang::Expr* address) {
  const clang::Expr* inner = address->IgnoreParenImpCasts();
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
      op != nullptr && op->getOpcode() == clang::UO_AddrOf) {
    inner = op->getSubExpr()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  return reference != nullptr ? dyn_cast<clang::FunctionDecl>(reference->getDecl()) : nullptr;
}

// The first word of an instruction, without what follows a dot; empty for declarations and braces.
std::string_view mnemonic_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\n{}";
  const std::size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  if (line.starts_with(".reg")) return {};
  return line.substr(0, line.find_first_of(" \t\n.{};"));
}

}  // namespace

const clang::FunctionDecl* called_function(const clang::CallExpr& call,
                                           const clang::ASTContext& context) {
  if (const auto* direct = call.getDirectCallee()) return direct;
  const clang::Expr* callee = call.getCallee();
  if (callee->isValueDependent() || isa<clang::CXXPseudoDestructorExpr>(callee)) return nullptr;
  clang::Expr::EvalResult result;
  if (callee->EvaluateAsRValue(result, context) && result.Val.isLValue()) {
    const auto* declaration = result.Val.getLValueBase().dyn_cast<const clang::ValueDecl*>();
    if (declaration != nullptr) return dyn_cast<clang::FunctionDecl>(declaration);
  }
  const auto* element = dyn_cast<clang::ArraySubscriptExpr>(callee->IgnoreParenImpCasts());
  const auto* base = element != nullptr
                         ? dyn_cast<clang::DeclRefExpr>(element->getBase()->IgnoreParenImpCasts())
                         : nullptr;
  const auto* table = base != nullptr ? dyn_cast<clang::VarDecl>(base->getDecl()) : nullptr;
  const auto* list = table != nullptr && table->hasInit()
                         ? dyn_cast<clang::InitListExpr>(table->getInit()->IgnoreParenImpCasts())
                         : nullptr;
  const auto* type = table != nullptr ? table->getType()->getAsArrayTypeUnsafe() : nullptr;
  if (list == nullptr || type == nullptr || !type->getElementType().isConstQualified() ||
      !element->getIdx()->EvaluateAsInt(result, context)) {
    return nullptr;
  }
  const auto at = result.Val.getInt().getExtValue();
  return at >= 0 && at < static_cast<std::int64_t>(list->getNumInits())
             ? function_at(list->getInit(static_cast<unsigned>(at)))
             : nullptr;
}

bool is_pure_assembler(const clang::AsmStmt& statement) {
  constexpr auto kPure = std::to_array<std::string_view>(
      {"abs",  "add",  "and", "bfe",  "bfi",   "bfind", "brev",  "clz",   "cnot", "copysign",
       "cos",  "cvt",  "div", "dp2a", "dp4a",  "ex2",   "fma",   "fns",   "lg2",  "lop3",
       "mad",  "max",  "min", "mov",  "mul",   "mul24", "mad24", "neg",   "not",  "or",
       "popc", "prmt", "rcp", "rem",  "rsqrt", "sad",   "selp",  "set",   "setp", "shf",
       "shl",  "shr",  "sin", "slct", "sqrt",  "sub",   "tanh",  "testp", "xor"});
  const auto* gnu = dyn_cast<clang::GCCAsmStmt>(&statement);
  if (gnu == nullptr || gnu->getNumClobbers() > 0) return false;
  const std::string written = gnu->getAsmString()->getString().str();
  for (std::size_t at = written.find('%'); at != std::string::npos && at + 1 < written.size();
       at = written.find('%', at + 2)) {
    const char next = written[at + 1];
    // %0 is an operand; %%clock is a register of the machine.
    if (next < '0' || next > '9') return false;
  }
  std::string_view rest = written;
  bool does_something = false;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view word = mnemonic_of(rest.substr(0, end));
    if (!word.empty() && std::ranges::find(kPure, word) == kPure.end()) return false;
    does_something = does_something || !word.empty();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return does_something;
}

void CalleeEffects::Deeds::add(const Deeds& other) {
  anything = anything || other.anything;
  globals = globals || other.globals;
  through = through || other.through;
  may_not_end = may_not_end || other.may_not_end;
}

bool CalleeEffects::is_users(const clang::FunctionDecl& function) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  return sources.isWrittenInMainFile(sources.getExpansionLoc(function.getLocation()));
}

CallEffect CalleeEffects::of(const clang::FunctionDecl& function) {
  const bool users = is_users(function);
  const Deeds deeds = users ? deeds_of(function) : deeds_of_header(function);
  if (deeds.anything) return users ? CallEffect::anything : CallEffect::by_name;
  if (deeds.globals || deeds.through || deeds.may_not_end)
    return users ? CallEffect::memory : CallEffect::by_name;
  return CallEffect::pure;
}

CalleeEffects::Deeds CalleeEffects::deeds_of_header(const clang::FunctionDecl& function) const {
  // What has to do with other threads, whatever it takes and gives.
  constexpr auto kTogether = std::to_array<std::string_view>(
      {"__shfl", "__ballot", "__any",     "__all",      "__activemask", "__match",     "__reduce",
       "__sync", "__nvvm",   "__nv_ptx",  "__pipeline", "__cluster",    "__barrier",   "__mbarrier",
       "__grid", "atomic",   "__iAtomic", "__fAtomic",  "__uAtomic",    "__ullAtomic", "__dAtomic",
       "tex",    "surf",     "__tex",     "__surf",     "clock",        "__clock",     "cuda",
       "cu"});
  Deeds deeds;
  const auto* name = function.getIdentifier();
  const bool is_operator = function.isOverloadedOperator();
  const clang::DeclContext* scope = function.getDeclContext()->getRedeclContext();
  const bool known_place = scope->isTranslationUnit() || function.isInStdNamespace();
  if (!known_place || isa<clang::CXXMethodDecl>(function) || (name == nullptr && !is_operator) ||
      function.getReturnType()->isVoidType() || holds_pointer(function.getReturnType()) ||
      function.param_empty() || is_given_pointers(function) || function.isVariadic()) {
    deeds.anything = true;
    return deeds;
  }
  if (const unsigned builtin = function.getBuiltinID(); builtin != 0) {
    deeds.anything = !context_.BuiltinInfo.isConst(builtin) &&
                     !context_.BuiltinInfo.isConstWithoutErrnoAndExceptions(builtin);
    return deeds;
  }
  if (name != nullptr) {
    const std::string_view word(name->getName().data(), name->getName().size());
    deeds.anything = std::ranges::any_of(
        kTogether, [&](std::string_view prefix) { return word.starts_with(prefix); });
  }
  return deeds;
}

CalleeEffects::Deeds CalleeEffects::deeds_of(const clang::FunctionDecl& called) {
  const clang::FunctionDecl* function = &called;
  if (!is_users(called)) return deeds_of_header(called);
  // A function that calls itself is taken not to end.
  const auto [entry, is_new] = known_.emplace(function->getCanonicalDecl(), Deeds{});
  if (!is_new) return entry->second;
  entry->second.anything = true;
  Deeds deeds;
  const clang::Stmt* body = function->getBody(function);
  if (body == nullptr) {
    deeds.anything = !function->isDefaulted();
  } else {
    look_at(body, deeds);
    if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(function)) {
      for (const clang::CXXCtorInitializer* one : constructor->inits())
        look_at(one->getInit(), deeds);
    }
  }
  const auto* method = dyn_cast<clang::CXXMethodDecl>(function);
  const bool has_object =
      method != nullptr && method->isInstance() && !isa<clang::CXXConstructorDecl>(method);
  deeds.through = deeds.through || has_object || is_given_pointers(*function) ||
                  holds_pointer(function->getReturnType());
  return known_[function->getCanonicalDecl()] = deeds;
}

void CalleeEffects::look_at_call(const clang::CallExpr& call, Deeds& deeds) {
  const clang::FunctionDecl* callee = called_function(call, context_);
  if (callee == nullptr) {
    deeds.anything = true;
    return;
  }
  Deeds of_callee = deeds_of(*callee);
  // What it does to variables of the caller stays inside.
  const bool own = std::ranges::all_of(call.arguments(), [](const clang::Expr* argument) {
    return !holds_pointer(argument->getType()) || is_own_place(argument);
  });
  if (own && !isa<clang::CXXMemberCallExpr>(call)) of_callee.through = false;
  deeds.add(of_callee);
}

void CalleeEffects::look_at(const clang::Stmt* node, Deeds& deeds) {
  if (node == nullptr || deeds.anything) return;
  if (const auto* expr = dyn_cast<clang::Expr>(node); expr != nullptr && is_assertion(*expr))
    return;
  const auto* assembler = dyn_cast<clang::AsmStmt>(node);
  if ((assembler != nullptr && !is_pure_assembler(*assembler)) || isa<clang::LambdaExpr>(node) ||
      isa<clang::CXXNewExpr>(node) || isa<clang::CXXDeleteExpr>(node) ||
      isa<clang::AtomicExpr>(node) || isa<clang::PseudoObjectExpr>(node) ||
      isa<clang::StmtExpr>(node)) {
    deeds.anything = true;
    return;
  }
  if (isa<clang::WhileStmt>(node) || isa<clang::DoStmt>(node) || isa<clang::GotoStmt>(node))
    deeds.may_not_end = true;
  if (const auto* loop = dyn_cast<clang::ForStmt>(node); loop != nullptr && !counts(*loop))
    deeds.may_not_end = true;
  if (const auto* expr = dyn_cast<clang::Expr>(node);
      expr != nullptr && expr->getType().isVolatileQualified()) {
    deeds.anything = true;
  }
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(node)) {
    const auto* variable = dyn_cast<clang::VarDecl>(reference->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage()) {
      const bool is_number = variable->getType().isConstQualified() &&
                             variable->getType()->isArithmeticType() && variable->hasInit();
      if (variable->isStaticLocal() && !is_number) deeds.anything = true;
      if (variable->hasAttr<clang::CUDASharedAttr>()) deeds.anything = true;
      if (!is_number) deeds.globals = true;
    }
  }
  if (const auto* declared = dyn_cast<clang::DeclStmt>(node)) {
    for (const clang::Decl* one : declared->decls()) {
      const auto* variable = dyn_cast<clang::VarDecl>(one);
      if (variable != nullptr && variable->hasAttr<clang::CUDASharedAttr>()) deeds.anything = true;
    }
  }
  if (const auto* made = dyn_cast<clang::CXXConstructExpr>(node);
      made != nullptr && !made->getConstructor()->isTrivial()) {
    Deeds of_constructor = deeds_of(*made->getConstructor());
    deeds.add(of_constructor);
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(node)) look_at_call(*call, deeds);
  for (const clang::Stmt* child : node->children())
    look_at(child, deeds);
}

}  // namespace regraph::source
