// Calls, operators of classes and constructors -> IR: what ExpressionConverter makes of functions.
#include "source/build.h"
#include "source/clang_expressions.h"
#include "source/clang_nodes.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;
using llvm::isa_and_nonnull;

}  // namespace

ExprPtr ExpressionConverter::convert_call(const clang::CallExpr* call_expr) {
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call_expr)) return convert_operator(op);
  if (const auto* of_object = dyn_cast<clang::CXXMemberCallExpr>(call_expr)) {
    ExprPtr converted = convert_conversion(*of_object);
    return converted ? converted : opaque(call_expr);
  }
  // INFINITY, NAN: macros over functions of Clang's own, which other compilers need not have.
  const clang::FunctionDecl* callee = called_function(*call_expr, context_);
  const bool is_macro_constant =
      callee != nullptr && callee->getBuiltinID() != 0 && call_expr->getBeginLoc().isMacroID() &&
      call_expr->getType()->isFloatingType() && call_expr->isEvaluatable(context_);
  if (is_macro_constant) {
    return std::make_shared<FloatingLiteral>(text_of(call_expr->getSourceRange()), std::nullopt);
  }
  if (opens_ && callee != nullptr) {
    if (ExprPtr place = hinted_place(*call_expr, *callee)) return place;
  }
  // Tables of functions are gone where calls are opened.
  if (opens_ && callee == nullptr) return opaque(call_expr);
  std::vector<ExprPtr> arguments;
  for (const clang::Expr* argument : call_expr->arguments()) {
    if (isa<clang::CXXDefaultArgExpr>(argument)) continue;
    arguments.push_back(convert(argument));
  }
  if (!elsewhere_ && !(opens_ && names_local_argument(*call_expr->getCallee())))
    return known_call(callee, callee_text(*call_expr->getCallee()), std::move(arguments));
  std::string name = callee != nullptr ? global_name(*callee) : "";
  if (!name.empty()) name += written_arguments(*call_expr->getCallee());
  return name.empty() ? opaque(call_expr) : known_call(callee, name, std::move(arguments));
}

// What __ldcs(p) and its like read, which say how to cache it besides, and the pointer of
// __builtin_assume_aligned; null for other calls.
ExprPtr ExpressionConverter::hinted_place(const clang::CallExpr& call,
                                          const clang::FunctionDecl& callee) {
  const auto* name = callee.getIdentifier();
  if (name == nullptr || call.getNumArgs() == 0) return nullptr;
  const std::string_view word(name->getName().data(), name->getName().size());
  if (word == "__builtin_assume_aligned") return convert(call.getArg(0));
  // Not __ldcv, which reads anew whatever another thread may have written.
  constexpr auto kLoads = std::to_array<std::string_view>({"__ldcs", "__ldcg", "__ldca", "__ldlu"});
  if (std::ranges::find(kLoads, word) == kLoads.end() || call.getNumArgs() != 1) return nullptr;
  return place_behind(*call.getArg(0));
}

ExprPtr ExpressionConverter::place_behind(const clang::Expr& pointer) {
  const clang::Expr* inner = pointer.IgnoreParenImpCasts();
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
      op != nullptr && op->getOpcode() == clang::UO_AddrOf) {
    return convert(op->getSubExpr());
  }
  const auto* sum = dyn_cast<clang::BinaryOperator>(inner);
  if (sum != nullptr && sum->getOpcode() == clang::BO_Add &&
      sum->getLHS()->getType()->isPointerType()) {
    const ExprPtr base = convert(sum->getLHS());
    return typed(plain_subscript(base, convert(sum->getRHS())), inner->getType()->getPointeeType());
  }
  return typed(plain_subscript(convert(inner), integer(0)), inner->getType()->getPointeeType());
}

// float v = x[i], where x is of half type: what the type's own function is called for.
ExprPtr ExpressionConverter::convert_conversion(const clang::CXXMemberCallExpr& call) {
  if (!isa_and_nonnull<clang::CXXConversionDecl>(call.getMethodDecl())) return nullptr;
  const clang::Expr* object = call.getImplicitObjectArgument();
  if (!scalar_type_of(call.getType()) || !scalar_type_of(object->getType())) return nullptr;
  ExprPtr operand = convert(object);
  if (is<OpaqueExpression>(operand)) return nullptr;
  return cast(spelling_of(call.getType().getUnqualifiedType()), std::move(operand));
}

ExprPtr ExpressionConverter::convert_operator(const clang::CXXOperatorCallExpr* op) {
  // -x, where x is of half type.
  if (op->getNumArgs() == 1 && op->getOperator() == clang::OO_Minus &&
      scalar_type_of(op->getArg(0)->getType())) {
    return plain_unary(UnaryOperator::minus, convert(op->getArg(0)));
  }
  const clang::FunctionDecl* callee = op->getDirectCallee();
  const bool is_function = callee != nullptr && !isa<clang::CXXMethodDecl>(callee) &&
                           !op->isAssignmentOp() && !callee->isInStdNamespace();
  if (!is_function) return opaque(op);
  std::vector<ExprPtr> arguments;
  for (const clang::Expr* argument : op->arguments()) {
    ExprPtr converted = convert(argument);
    if (is<OpaqueExpression>(converted)) return opaque(op);
    arguments.push_back(std::move(converted));
  }
  return known_call(callee, callee->getQualifiedNameAsString(), std::move(arguments));
}

ExprPtr ExpressionConverter::convert_construct(const clang::CXXConstructExpr* construct) {
  if (construct->getNumArgs() == 1 && construct->getConstructor()->isCopyOrMoveConstructor())
    return convert(construct->getArg(0));
  const auto scalar = scalar_type_of(construct->getType());
  if (scalar && construct->getNumArgs() == 0 &&
      (construct->requiresZeroInitialization() || construct->isListInitialization())) {
    return zero_of(*scalar);
  }
  if (scalar && construct->getNumArgs() == 1 && scalar_type_of(construct->getArg(0)->getType())) {
    ExprPtr operand = convert(construct->getArg(0));
    if (is<OpaqueExpression>(operand)) return opaque(construct);
    return cast(spelling_of(construct->getType().getUnqualifiedType()), std::move(operand));
  }
  // Written out as Type(a, b), or in a declaration as Type x(a, b); with braces the same values.
  const bool is_written =
      isa<clang::CXXTemporaryObjectExpr>(construct) ||
      (construct->getParenOrBraceRange().isValid() && construct->getNumArgs() > 0);
  if (!is_written || construct->isStdInitListInitialization()) return opaque(construct);
  std::vector<ExprPtr> arguments;
  for (const clang::Expr* argument : construct->arguments()) {
    if (isa<clang::CXXDefaultArgExpr>(argument)) continue;
    arguments.push_back(convert(argument));
  }
  return known_call(construct->getConstructor(),
                    spelling_of(construct->getType().getUnqualifiedType()), std::move(arguments));
}

ExprPtr ExpressionConverter::known_call(const clang::FunctionDecl* callee, std::string name,
                                        std::vector<ExprPtr> arguments) {
  const CallEffect effect = callee != nullptr ? callees_.of(*callee) : CallEffect::by_name;
  auto result = std::make_shared<Call>(std::move(name), std::move(arguments), std::nullopt, effect);
  for (unsigned at = 0; callee != nullptr && at < callee->getNumParams(); ++at) {
    const clang::QualType type = callee->getParamDecl(at)->getType();
    if (type->isReferenceType() && !type.getNonReferenceType().isConstQualified())
      result->by_reference.insert(at);
  }
  return result;
}

// Whether an argument of a template is said by a name of the kernel's own, as in cast<pack_t>(x).
bool ExpressionConverter::names_local_argument(const clang::Expr& callee) const {
  const auto* name = dyn_cast<clang::DeclRefExpr>(callee.IgnoreParenImpCasts());
  return name != nullptr &&
         std::ranges::any_of(name->template_arguments(), [&](const auto& argument) {
           return argument.getArgument().getKind() == clang::TemplateArgument::Type &&
                  names_local_type(argument.getArgument().getAsType(), context_);
         });
}

// The arguments of a template that are said where it is called, as they are called everywhere:
// "<signed char>"; empty where none are.
std::string ExpressionConverter::written_arguments(const clang::Expr& callee) const {
  const auto* name = dyn_cast<clang::DeclRefExpr>(callee.IgnoreParenImpCasts());
  if (name == nullptr || !name->hasExplicitTemplateArgs()) return "";
  std::string text;
  for (const clang::TemplateArgumentLoc& written : name->template_arguments()) {
    const clang::TemplateArgument argument =
        context_.getCanonicalTemplateArgument(written.getArgument());
    llvm::raw_string_ostream out(text);
    if (!text.empty()) out << ", ";
    argument.print(policy_, out, /*IncludeType=*/false);
  }
  return "<" + text + ">";
}

std::string ExpressionConverter::callee_text(const clang::Expr& callee) const {
  const clang::SourceRange range = callee.getSourceRange();
  if (!range.getBegin().isMacroID()) return text_of(range);
  const clang::SourceManager& sources = context_.getSourceManager();
  const auto written = clang::CharSourceRange::getTokenRange(
      sources.getSpellingLoc(range.getBegin()), sources.getSpellingLoc(range.getEnd()));
  return clang::Lexer::getSourceText(written, sources, context_.getLangOpts()).str();
}

}  // namespace regraph::source
