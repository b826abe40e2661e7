#include "source/clang_expressions.h"

#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_nodes.h"
#include "source/clang_records.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

bool names_local_type(clang::QualType type, const clang::ASTContext& context) {
  if (const auto* alias = dyn_cast<clang::TypedefType>(type);
      alias != nullptr && alias->getDecl()->getParentFunctionOrMethod() != nullptr) {
    return true;
  }
  if (const auto* special = dyn_cast<clang::TemplateSpecializationType>(type)) {
    for (const clang::TemplateArgument& argument : special->template_arguments()) {
      if (argument.getKind() == clang::TemplateArgument::Type &&
          names_local_type(argument.getAsType(), context)) {
        return true;
      }
    }
  }
  if (const auto* pointer = dyn_cast<clang::PointerType>(type))
    return names_local_type(pointer->getPointeeType(), context);
  if (const auto* reference = dyn_cast<clang::ReferenceType>(type))
    return names_local_type(reference->getPointeeType(), context);
  if (const auto* array = dyn_cast<clang::ArrayType>(type))
    return names_local_type(array->getElementType(), context);
  const clang::QualType desugared = type.getSingleStepDesugaredType(context);
  return desugared != type && names_local_type(desugared, context);
}

std::string ExpressionConverter::spelling_of(clang::QualType type) const {
  // Local names of types are gone where the body is opened.
  const bool in_full = elsewhere_ || (opens_ && names_local_type(type, context_));
  return (in_full ? type.getCanonicalType() : type).getAsString(policy_);
}

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

std::string ExpressionConverter::spelling_of_deduced(clang::QualType type) const {
  const std::string text = spelling_of(type);
  if (scalar_type_from_cuda_name(text)) return text;
  return type.getCanonicalType().getAsString(policy_);
}

int ExpressionConverter::line_of(clang::SourceLocation location) const {
  // As #line says, where code was cut out of a larger file.
  const clang::SourceManager& sources = context_.getSourceManager();
  return static_cast<int>(sources.getPresumedLineNumber(sources.getExpansionLoc(location)));
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

namespace {

void collect_references(const clang::Stmt* node, std::vector<const clang::DeclRefExpr*>& all) {
  if (node == nullptr) return;
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(node)) all.push_back(reference);
  for (const clang::Stmt* child : node->children())
    collect_references(child, all);
}

}  // namespace

std::string ExpressionConverter::text_of(const clang::Stmt* node) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  std::string text = text_of(node->getSourceRange());
  const auto [file, begin] =
      sources.getDecomposedLoc(sources.getExpansionRange(node->getSourceRange()).getBegin());
  std::vector<const clang::DeclRefExpr*> references;
  collect_references(node, references);
  std::map<std::size_t, std::pair<std::size_t, std::string>> changes;  // place: length, name
  for (const clang::DeclRefExpr* reference : references) {
    const auto known = names_.find(reference->getDecl());
    const std::string spelt = reference->getDecl()->getNameAsString();
    const clang::SourceLocation location = reference->getLocation();
    if (known == names_.end() || known->second == spelt || location.isMacroID()) continue;
    const auto [own_file, place] = sources.getDecomposedLoc(location);
    if (own_file != file || place < begin || place - begin + spelt.size() > text.size()) continue;
    if (text.compare(place - begin, spelt.size(), spelt) != 0) continue;
    changes[place - begin] = {spelt.size(), known->second};
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    text.replace(change->first, change->second.first, change->second.second);
  return text;
}

ExprPtr ExpressionConverter::opaque(const clang::Expr* node) const {
  return std::make_shared<OpaqueExpression>("(" + text_of(node) + ")",
                                            scalar_type_of(node->getType()));
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
  // What is of the type already: static_cast<float4>(x).
  if (to->isRecordType() && is_vector(to, context_) &&
      context_.hasSameUnqualifiedType(to, operand->getType())) {
    return convert(operand);
  }
  // An enumerator that a template was given is a number that is cast.
  if (to->isEnumeralType()) {
    ExprPtr named = enumerator_of(*cast_expr);
    return named ? named : opaque(cast_expr);
  }
  if (!scalar_type_of(to) && !is_view) return opaque(cast_expr);
  // A number is one without its enumerator's name, and easier to compute with.
  const clang::Expr* bare = operand->IgnoreParenImpCasts();
  const bool is_enumerator = to->isIntegralType(context_) && isa<clang::DeclRefExpr>(bare) &&
                             operand->getType()->isEnumeralType();
  ExprPtr converted = is_enumerator ? typed(convert_bare(bare), to) : convert(operand);
  if (is_view && is<OpaqueExpression>(converted)) return opaque(cast_expr);
  return cast(spelling_of(cast_expr->getTypeAsWritten()), std::move(converted));
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
  // Without a conversion to a number its type may choose a function, and it converts to no other.
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
      reference != nullptr && isa<clang::EnumConstantDecl>(reference->getDecl()) &&
      expr->getType()->isEnumeralType()) {
    if (ExprPtr name = convert_enumerator(*reference)) return name;
  }
  return typed(convert_bare(inner), inner->getType());
}

// Of a && or || that a constant decides, or leaves to its other side; null for others.
ExprPtr ExpressionConverter::undecided_part(const clang::BinaryOperator& op) {
  if (const auto value = decided(op, context_))
    return integer(*value ? 1 : 0, *value ? "true" : "false", ScalarType::i32);
  const auto is_condition = [](const clang::Expr* side) {
    return side->IgnoreParenImpCasts()->getType()->isBooleanType();
  };
  if (decided(*op.getLHS(), context_) && is_condition(op.getRHS())) return convert(op.getRHS());
  const bool neutral = op.getOpcode() == clang::BO_LAnd;
  if (decided(*op.getRHS(), context_) == neutral && is_condition(op.getLHS()))
    return convert(op.getLHS());
  return nullptr;
}

bool ExpressionConverter::is_same_type(const clang::Expr* one, const clang::Expr* other) const {
  return context_.hasSameUnqualifiedType(one->IgnoreParenImpCasts()->getType(),
                                         other->IgnoreParenImpCasts()->getType());
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
  if (isa<clang::CXXNullPtrLiteralExpr>(inner)) return integer(0, "nullptr", ScalarType::i64);
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner))
    return convert_reference(reference);
  if (const auto* pseudo = dyn_cast<clang::PseudoObjectExpr>(inner)) return convert_builtin(pseudo);
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner)) return convert_unary(op);
  if (const auto* op = dyn_cast<clang::BinaryOperator>(inner)) {
    const auto known = binary_operator(op->getOpcodeStr().str());
    if (op->isAssignmentOp()) return convert_effect(op);
    if (op->isCommaOp() || op->isPtrMemOp() || !known) return opaque(inner);
    if (ExprPtr rest = opens_ && op->isLogicalOp() ? undecided_part(*op) : nullptr) return rest;
    const ExprPtr left = convert(op->getLHS());
    return plain_binary(*known, left, convert(op->getRHS()));
  }
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(inner)) {
    const auto holds = opens_ ? decided(*choice->getCond(), context_) : std::nullopt;
    if (holds && is_same_type(choice->getTrueExpr(), choice->getFalseExpr()))
      return convert(*holds ? choice->getTrueExpr() : choice->getFalseExpr());
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
