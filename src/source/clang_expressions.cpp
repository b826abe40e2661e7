#include "source/clang_expressions.h"

#include "source/build.h"
#include "source/clang_effects.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <string_view>
#include <vector>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Spelling of an integer literal's suffix by its type.
std::string suffix_of(ScalarType type) {
  switch (type) {
    case ScalarType::u32:
      return "u";
    case ScalarType::i64:
      return "ll";
    case ScalarType::u64:
      return "ull";
    default:
      return "";
  }
}

// With the type that Clang gives it, where that is a scalar.
ExprPtr typed(const ExprPtr& expr, clang::QualType type) {
  const auto scalar = scalar_type_of(type);
  return scalar ? with_type(expr, scalar) : expr;
}

ExprPtr integer_literal(std::int64_t value, clang::QualType type) {
  const ScalarType scalar = scalar_type_of(type).value_or(ScalarType::i32);
  const std::string digits = scalar == ScalarType::u64
                                 ? std::to_string(static_cast<std::uint64_t>(value))
                                 : std::to_string(value);
  return integer(value, digits + suffix_of(scalar), scalar);
}

// Plain nodes without the folding that build.h does: the gate compares PTX. `typed` gives them
// types.
ExprPtr plain_unary(UnaryOperator op, ExprPtr operand) {
  return std::make_shared<Unary>(op, std::move(operand), std::nullopt);
}

ExprPtr plain_binary(BinaryOperator op, ExprPtr left, ExprPtr right) {
  return std::make_shared<Binary>(op, std::move(left), std::move(right), std::nullopt);
}

ExprPtr plain_subscript(ExprPtr base, ExprPtr index) {
  return std::make_shared<Subscript>(std::move(base), std::move(index), std::nullopt);
}

}  // namespace

std::optional<ScalarType> scalar_type_of(clang::QualType type) {
  const clang::QualType canonical = type.getCanonicalType().getUnqualifiedType();
  clang::PrintingPolicy policy{clang::LangOptions()};
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  return scalar_type_from_cuda_name(canonical.getAsString(policy));
}

ExpressionConverter::ExpressionConverter(clang::ASTContext& context, bool opens)
    : context_(context), policy_(context.getLangOpts()), callees_(context), opens_(opens) {
  policy_.SuppressTagKeyword = true;
  policy_.Bool = true;
}

int ExpressionConverter::line_of(clang::SourceLocation location) const {
  return static_cast<int>(context_.getSourceManager().getExpansionLineNumber(location));
}

std::optional<int> ExpressionConverter::constant_of(const clang::Expr* expr) const {
  clang::Expr::EvalResult result;
  if (expr == nullptr || !expr->EvaluateAsInt(result, context_)) return std::nullopt;
  return static_cast<int>(result.Val.getInt().getExtValue());
}

std::string ExpressionConverter::text_of(clang::SourceRange range) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const auto characters = clang::Lexer::getAsCharRange(sources.getExpansionRange(range), sources,
                                                       context_.getLangOpts());
  return clang::Lexer::getSourceText(characters, sources, context_.getLangOpts()).str();
}

ExprPtr ExpressionConverter::opaque(const clang::Expr* node) const {
  return std::make_shared<OpaqueExpression>("(" + text_of(node->getSourceRange()) + ")",
                                            scalar_type_of(node->getType()));
}

ExprPtr ExpressionConverter::convert_reference(const clang::DeclRefExpr* reference) {
  const clang::ValueDecl* declaration = reference->getDecl();
  if (const auto* constant = dyn_cast<clang::EnumConstantDecl>(declaration)) {
    return integer_literal(constant->getInitVal().getExtValue(), reference->getType());
  }
  if (const auto meaning = meanings_.find(declaration); meaning != meanings_.end())
    return meaning->second;
  const auto found = names_.find(declaration);
  if (found != names_.end()) return typed(variable(found->second), reference->getType());
  if (const auto* global = dyn_cast<clang::VarDecl>(declaration)) {
    // A file-scope constant: its value is what the analyses need.
    if (global->getType()->isIntegralType(context_) && global->getType().isConstQualified()) {
      clang::Expr::EvalResult result;
      if (reference->EvaluateAsInt(result, context_)) {
        return integer_literal(result.Val.getInt().getExtValue(), reference->getType());
      }
    }
    if (global->hasLocalStorage()) return opaque(reference);  // nothing was declared
    // An operation's identity, where what it does is looked at.
    const bool is_number = opens_ && global->getType().isConstQualified() &&
                           global->getType()->isFloatingType() && global->hasInit();
    if (is_number && context_.hasSameUnqualifiedType(
                         global->getInit()->IgnoreParenImpCasts()->getType(), global->getType())) {
      return convert(global->getInit());
    }
    if (elsewhere_) {
      const std::string name = global_name(*global);
      return name.empty() ? opaque(reference)
                          : typed(variable(name, std::nullopt), reference->getType());
    }
    // Of a namespace or class: the name alone would be another's.
    if (reference->hasQualifier()) {
      return typed(variable(text_of(reference->getSourceRange()), std::nullopt),
                   reference->getType());
    }
    return typed(variable(global->getNameAsString(), std::nullopt), reference->getType());
  }
  return opaque(reference);
}

ExprPtr ExpressionConverter::convert_builtin(const clang::PseudoObjectExpr* pseudo) const {
  const auto* property =
      dyn_cast<clang::MSPropertyRefExpr>(pseudo->getSyntacticForm()->IgnoreParens());
  if (property == nullptr) return opaque(pseudo);
  const clang::Expr* base = property->getBaseExpr()->IgnoreParenImpCasts();
  if (const auto* value = dyn_cast<clang::OpaqueValueExpr>(base)) {
    base = value->getSourceExpr()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(base);
  if (reference == nullptr) return opaque(pseudo);
  const std::string object = reference->getDecl()->getNameAsString();
  if (object != "threadIdx" && object != "blockIdx" && object != "blockDim" &&
      object != "gridDim") {
    return opaque(pseudo);
  }
  return builtin(object + "." + property->getPropertyDecl()->getNameAsString());
}

ExprPtr ExpressionConverter::convert_unary(const clang::UnaryOperator* op) {
  switch (op->getOpcode()) {
    case clang::UO_Minus:
    case clang::UO_Plus:
    case clang::UO_Not:
    case clang::UO_LNot:
    case clang::UO_AddrOf:
      return plain_unary(*unary_operator(clang::UnaryOperator::getOpcodeStr(op->getOpcode()).str()),
                         convert(op->getSubExpr()));
    case clang::UO_Deref: {
      const auto* sum = dyn_cast<clang::BinaryOperator>(op->getSubExpr()->IgnoreParenImpCasts());
      if (sum != nullptr && sum->getOpcode() == clang::BO_Add &&
          sum->getLHS()->getType()->isPointerType()) {
        const ExprPtr base = convert(sum->getLHS());
        return plain_subscript(base, convert(sum->getRHS()));
      }
      return plain_subscript(convert(op->getSubExpr()), integer(0));
    }
    case clang::UO_PostInc:
    case clang::UO_PostDec:
    case clang::UO_PreInc:
    case clang::UO_PreDec:
      return convert_effect(op);
    default:
      return opaque(op);
  }
}

// An operator that the file defines for vectors and classes, as the call of a function:
// "operator+".
ExprPtr ExpressionConverter::convert_operator(const clang::CXXOperatorCallExpr* op) {
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

ExprPtr ExpressionConverter::convert_effect(const clang::Expr* effect) {
  if (effects_ == nullptr || !effects_->separable.contains(effect)) return opaque(effect);
  if (const auto* op = dyn_cast<clang::BinaryOperator>(effect)) {
    const auto assignment = assignment_operator(op->getOpcodeStr().str());
    if (!assignment) return opaque(effect);
    ExprPtr value = convert(op->getRHS());
    const ExprPtr target = convert(op->getLHS());
    effects_->before.push_back(assign(target, *assignment, std::move(value)));
    return target;
  }
  const auto* op = clang::cast<clang::UnaryOperator>(effect);
  const ExprPtr target = convert(op->getSubExpr());
  const bool up = op->isIncrementOp();
  const auto step = up ? AssignmentOperator::add : AssignmentOperator::subtract;
  const bool follows = op->isPostfix() && effects_->may_follow;
  (follows ? effects_->after : effects_->before).push_back(assign(target, step, integer(1)));
  if (op->isPrefix() || follows) return target;
  // Narrow integers wrap where their sum with 1 does not.
  const clang::QualType type = op->getType();
  const bool is_wide =
      type->isPointerType() || (type->isIntegerType() && context_.getTypeSize(type) >= 32);
  if (!is_wide) {
    effects_->before.pop_back();
    return opaque(effect);
  }
  return plain_binary(up ? BinaryOperator::subtract : BinaryOperator::add, target, integer(1));
}

// As written at the call, or in the macro that makes it.
std::string ExpressionConverter::callee_text(const clang::Expr& callee) const {
  const clang::SourceRange range = callee.getSourceRange();
  if (!range.getBegin().isMacroID()) return text_of(range);
  const clang::SourceManager& sources = context_.getSourceManager();
  const auto written = clang::CharSourceRange::getTokenRange(
      sources.getSpellingLoc(range.getBegin()), sources.getSpellingLoc(range.getEnd()));
  return clang::Lexer::getSourceText(written, sources, context_.getLangOpts()).str();
}

std::string ExpressionConverter::global_name(const clang::NamedDecl& declaration) {
  std::string name = declaration.getQualifiedNameAsString();
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  for (std::size_t at = name.find(kNameless); at != std::string::npos; at = name.find(kNameless))
    name.erase(at, kNameless.size());
  return name.find('(') == std::string::npos ? name : "";
}

ExprPtr ExpressionConverter::convert_call(const clang::CallExpr* call_expr) {
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call_expr)) return convert_operator(op);
  if (isa<clang::CXXMemberCallExpr>(call_expr)) return opaque(call_expr);
  // INFINITY, NAN: macros over functions of Clang's own, which other compilers need not have.
  const clang::FunctionDecl* callee = call_expr->getDirectCallee();
  const bool is_macro_constant =
      callee != nullptr && callee->getBuiltinID() != 0 && call_expr->getBeginLoc().isMacroID() &&
      call_expr->getType()->isFloatingType() && call_expr->isEvaluatable(context_);
  if (is_macro_constant) {
    return std::make_shared<FloatingLiteral>(text_of(call_expr->getSourceRange()), std::nullopt);
  }
  std::vector<ExprPtr> arguments;
  for (const clang::Expr* argument : call_expr->arguments()) {
    if (isa<clang::CXXDefaultArgExpr>(argument)) continue;
    arguments.push_back(convert(argument));
  }
  if (!elsewhere_)
    return known_call(callee, callee_text(*call_expr->getCallee()), std::move(arguments));
  std::string name = callee != nullptr ? global_name(*callee) : "";
  return name.empty() ? opaque(call_expr) : known_call(callee, name, std::move(arguments));
}

// Pointers as other pointers are views of the memory behind them (view.h).
ExprPtr ExpressionConverter::convert_cast(const clang::ExplicitCastExpr* cast_expr) {
  const clang::Expr* operand = cast_expr->getSubExprAsWritten();
  const clang::QualType to = cast_expr->getType();
  const bool is_view = to->isPointerType() &&
                       (operand->getType()->isPointerType() || operand->getType()->isArrayType());
  if (const auto* list = dyn_cast<clang::InitListExpr>(operand->IgnoreImplicit())) {
    ExprPtr converted = convert_list(list);
    return converted ? converted : opaque(cast_expr);
  }
  if (!scalar_type_of(to) && !is_view) return opaque(cast_expr);
  ExprPtr converted = convert(operand);
  if (is_view && is<OpaqueExpression>(converted)) return opaque(cast_expr);
  return cast(spelling_of(cast_expr->getTypeAsWritten()), std::move(converted));
}

std::optional<Object> ExpressionConverter::object_at(const clang::Expr* place) {
  if (!opens_) return std::nullopt;
  const clang::Expr* inner = bare_value(place);
  if (isa<clang::CXXThisExpr>(inner)) return this_;
  if (const auto found = object_values_.find(inner); found != object_values_.end())
    return found->second;
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner)) {
    const auto found = objects_.find(reference->getDecl());
    return found != objects_.end() ? std::optional(found->second) : std::nullopt;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    const bool is_own = isa<clang::CXXThisExpr>(op->getSubExpr()->IgnoreParenImpCasts());
    return is_own ? this_ : std::nullopt;
  }
  if (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
    const auto* field = dyn_cast<clang::FieldDecl>(access->getMemberDecl());
    const auto owner = field != nullptr ? owner_of(*access) : std::nullopt;
    if (!owner) return std::nullopt;
    const auto part = owner->parts.find(field);
    return part != owner->parts.end() ? std::optional(part->second) : std::nullopt;
  }
  if (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
    const auto array = object_at(element->getBase());
    if (!array || has_effects(*element->getIdx())) return std::nullopt;
    return element_of(*array, inner->getType(), convert(element->getIdx()));
  }
  return std::nullopt;
}

std::optional<Object> ExpressionConverter::element_of(const Object& array, clang::QualType type,
                                                      const ExprPtr& index) const {
  const clang::CXXRecordDecl* record = flat_record(context_.getBaseElementType(type), context_);
  if (record == nullptr) return std::nullopt;
  return map_object(*record, array, [&](const Leaf&, const ExprPtr& of_field) {
    return plain_subscript(of_field, index);
  });
}

std::optional<Object> ExpressionConverter::owner_of(const clang::MemberExpr& access) {
  auto owner = object_at(access.getBase());
  const bool is_behind_pointer =
      access.isArrow() && !isa<clang::CXXThisExpr>(access.getBase()->IgnoreParenImpCasts());
  if (!owner || !is_behind_pointer) return owner;
  return element_of(*owner, access.getBase()->getType()->getPointeeType(), integer(0));
}

ExprPtr ExpressionConverter::convert_member(const clang::MemberExpr* access) {
  const clang::ValueDecl* named = access->getMemberDecl();
  clang::Expr::EvalResult result;
  if (isa<clang::VarDecl>(named)) {  // static
    if (access->getType()->isIntegralType(context_) && access->EvaluateAsInt(result, context_))
      return integer_literal(result.Val.getInt().getExtValue(), access->getType());
    return opaque(access);
  }
  if (!isa<clang::FieldDecl>(named) || named->getDeclName().isEmpty()) return opaque(access);
  if (const auto owner = owner_of(*access)) {
    const auto found = owner->values.find(clang::cast<clang::FieldDecl>(named));
    return found != owner->values.end() && found->second ? found->second : opaque(access);
  }
  ExprPtr object = convert(access->getBase());
  if (is<OpaqueExpression>(object)) return opaque(access);
  if (access->isArrow()) object = plain_subscript(std::move(object), integer(0));
  return member(std::move(object), named->getNameAsString(), std::nullopt);
}

ExprPtr ExpressionConverter::convert_construct(const clang::CXXConstructExpr* construct) {
  if (construct->getNumArgs() == 1 && construct->getConstructor()->isCopyOrMoveConstructor())
    return convert(construct->getArg(0));
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

ExprPtr ExpressionConverter::convert_list(const clang::Expr* expr) {
  const auto* list = dyn_cast<clang::InitListExpr>(expr->IgnoreParenImpCasts());
  if (list == nullptr) return nullptr;
  const auto* written = list->isSemanticForm() && list->getSyntacticForm() != nullptr
                            ? list->getSyntacticForm()
                            : list;
  const bool is_array = list->getType()->isArrayType();
  const bool is_record = list->getType()->isRecordType();
  std::vector<ExprPtr> values;
  for (const clang::Expr* value : written->inits()) {
    if (isa<clang::DesignatedInitExpr>(value)) return nullptr;
    ExprPtr converted = convert_list(value);
    if (!converted) converted = convert(value);
    if (is<OpaqueExpression>(converted)) return nullptr;
    values.push_back(std::move(converted));
  }
  if (!is_array && !is_record) {
    // int x{3} is a plain value; {} is a zero.
    if (values.size() == 1) return values.front();
    const auto scalar = scalar_type_of(list->getType());
    return values.empty() && scalar ? zero_of(*scalar) : nullptr;
  }
  return std::make_shared<InitializerList>(
      is_array ? "" : spelling_of(list->getType().getUnqualifiedType()), std::move(values));
}

ExprPtr ExpressionConverter::convert(const clang::Expr* expr, SideEffects& effects) {
  effects_ = &effects;
  ExprPtr result = convert(expr);
  effects_ = nullptr;
  return result;
}

ExprPtr ExpressionConverter::convert(const clang::Expr* expr) {
  const clang::Expr* inner = expr->IgnoreParenImpCasts();
  if (const auto* full = dyn_cast<clang::FullExpr>(inner)) return convert(full->getSubExpr());
  if (const auto* temporary = dyn_cast<clang::MaterializeTemporaryExpr>(inner)) {
    return convert(temporary->getSubExpr());
  }
  if (const auto value = values_.find(inner); value != values_.end() && value->second)
    return value->second;
  return typed(convert_bare(inner), inner->getType());
}

ExprPtr ExpressionConverter::convert_bare(const clang::Expr* inner) {
  if (const auto* literal = dyn_cast<clang::IntegerLiteral>(inner)) {
    return integer_literal(static_cast<std::int64_t>(literal->getValue().getZExtValue()),
                           literal->getType());
  }
  if (isa<clang::FloatingLiteral>(inner)) {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::SourceLocation spelling = sources.getSpellingLoc(inner->getBeginLoc());
    const std::string text =
        clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(spelling, spelling),
                                    sources, context_.getLangOpts())
            .str();
    return floating(text);
  }
  if (const auto* literal = dyn_cast<clang::CXXBoolLiteralExpr>(inner)) {
    return integer(literal->getValue() ? 1 : 0, literal->getValue() ? "true" : "false",
                   ScalarType::i32);
  }
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner))
    return convert_reference(reference);
  if (const auto* pseudo = dyn_cast<clang::PseudoObjectExpr>(inner)) return convert_builtin(pseudo);
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner)) return convert_unary(op);
  if (const auto* op = dyn_cast<clang::BinaryOperator>(inner)) {
    const auto known = binary_operator(op->getOpcodeStr().str());
    if (op->isAssignmentOp()) return convert_effect(op);
    if (op->isCommaOp() || op->isPtrMemOp() || !known) return opaque(inner);
    const ExprPtr left = convert(op->getLHS());
    return plain_binary(*known, left, convert(op->getRHS()));
  }
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(inner)) {
    const ExprPtr condition = convert(choice->getCond());
    const ExprPtr then = convert(choice->getTrueExpr());
    return std::make_shared<Conditional>(condition, then, convert(choice->getFalseExpr()),
                                         std::nullopt);
  }
  if (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
    const ExprPtr base = convert(element->getBase());
    return plain_subscript(base, convert(element->getIdx()));
  }
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
      op != nullptr && op->getNumArgs() == 2 && op->isInfixBinaryOp() && !op->isAssignmentOp() &&
      scalar_type_of(op->getArg(0)->getType()) && scalar_type_of(op->getArg(1)->getType())) {
    const auto known = binary_operator(clang::getOperatorSpelling(op->getOperator()));
    if (!known) return opaque(inner);
    const ExprPtr left = convert(op->getArg(0));
    return plain_binary(*known, left, convert(op->getArg(1)));
  }
  if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) return convert_call(call_expr);
  if (const auto* explicit_cast = dyn_cast<clang::ExplicitCastExpr>(inner))
    return convert_cast(explicit_cast);
  if (const auto* access = dyn_cast<clang::MemberExpr>(inner)) return convert_member(access);
  if (const auto* construct = dyn_cast<clang::CXXConstructExpr>(inner))
    return convert_construct(construct);
  if (isa<clang::InitListExpr>(inner)) {
    ExprPtr list = convert_list(inner);
    return list ? list : opaque(inner);
  }
  clang::Expr::EvalResult result;
  if (inner->getType()->isIntegralType(context_) && inner->EvaluateAsInt(result, context_)) {
    return integer_literal(result.Val.getInt().getExtValue(), inner->getType());
  }
  return opaque(inner);
}

}  // namespace regraph::source
