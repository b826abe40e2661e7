#include "source/clang_convert.h"

#include "source/build.h"
#include "source/clang_control.h"
#include "source/clang_effects.h"
#include "source/clang_expressions.h"
#include "source/clang_inline.h"
#include "source/printer.h"
#include "source/walk.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

class Converter final : private BodyConverter {
 public:
  Converter(clang::ASTContext& context, bool takes_apart, bool opens,
            bool opens_memory_calls = false)
      : expressions_(context, opens),
        takes_apart_(takes_apart),
        opens_(opens),
        inliner_(expressions_, *this, opens_memory_calls) {}

  // Whether calls were taken into the body, all that were to be, or references are indices.
  [[nodiscard]] bool has_opened() const {
    return (knows_by_index_ || inliner_.took_any()) && !inliner_.failed();
  }

  Result<Kernel> convert(const clang::FunctionDecl& function) {
    Kernel kernel;
    kernel.name = function.getNameAsString();
    kernel.line = expressions_.line_of(function.getLocation());
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      kernel.parameters.push_back(convert_parameter(*parameter));
      expressions_.set_name(parameter, parameter->getNameAsString());
      declared_[parameter->getNameAsString()] = "parameter";
      if (parameter->getType()->isPointerType() &&
          parameter->getType()->getPointeeType()->isArrayType()) {
        return fail(ErrorCode::unsupported, "parameter '" + parameter->getNameAsString() +
                                                "' is a pointer to an array; the rewriter has no "
                                                "form for that (write a plain pointer)");
      }
    }
    if (const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>()) {
      kernel.launch_bounds_threads = expressions_.constant_of(bounds->getMaxThreads());
      if (bounds->getMinBlocks() != nullptr) {
        kernel.launch_bounds_min_blocks = expressions_.constant_of(bounds->getMinBlocks());
      }
      if (bounds->getMaxBlocks() != nullptr) {
        return fail(ErrorCode::unsupported, "__launch_bounds__ with a cluster size");
      }
    }
    const auto* body = dyn_cast<clang::CompoundStmt>(function.getBody());
    if (body == nullptr) return fail(ErrorCode::unsupported, "the kernel's body is not a block");
    changing_ = changing_variables(*body);
    if (opens_) note_records(function);
    kernel.body = convert_block(body);
    kernel.body.insert(kernel.body.begin(), shared_.begin(), shared_.end());
    return kernel;
  }

 private:
  // Of records that the kernel is passed.
  void note_records(const clang::FunctionDecl& function) {
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      const auto* record = flat_record(parameter->getType(), expressions_.context());
      if (record == nullptr) continue;
      const ExprPtr place = variable(parameter->getNameAsString(), std::nullopt);
      expressions_.set_object(parameter, CallInliner::fields_at(place, *record));
    }
  }

  void declare(const clang::VarDecl& declaration, ExprPtr value, bool is_const,
               Block& block) override {
    const std::string name = declare_variable(declaration.getNameAsString(), declaration.getType(),
                                              std::move(value), is_const, block);
    expressions_.set_name(&declaration, name);
  }

  std::string declare_result(const std::string& stem, clang::QualType type, ExprPtr value,
                             bool is_const, Block& block) override {
    return declare_variable(stem, type, std::move(value), is_const, block);
  }

  std::optional<std::string> declare_field(const clang::VarDecl& object, const std::string& stem,
                                           clang::QualType type, ExprPtr value,
                                           Block& block) override {
    Variable variable;
    const bool is_shared = object.hasAttr<clang::CUDASharedAttr>();
    if (is_shared && object.hasExternalStorage()) return std::nullopt;
    if (is_shared) variable.storage = Storage::shared;
    clang::QualType whole = object.getType();
    whole = take_extents(whole, variable);
    if (whole->isArrayType()) return std::nullopt;
    variable.is_const = value != nullptr && !is_changing(object);
    // An array may be handed on by its first element.
    if (type->isArrayType()) variable.is_const = object.getType().isConstQualified();
    type = take_extents(type, variable);
    variable.is_pointer = type->isPointerType();
    const clang::QualType element = variable.is_pointer ? type->getPointeeType() : type;
    variable.type = expressions_.spelling_of(element.getUnqualifiedType());
    variable.scalar = scalar_type_of(element);
    if (variable.is_pointer) variable.type = expressions_.spelling_of(element);
    variable.name = unique_name(stem, "of an object");
    const std::string name = variable.name;
    const bool is_hoisted = is_shared && inliner_.is_inside();
    (is_hoisted ? shared_ : block)
        .push_back(at(object.getBeginLoc(),
                      std::make_shared<Declaration>(std::move(variable), std::move(value))));
    return name;
  }

  // The type of an array's elements; the array's extents go to the variable.
  clang::QualType take_extents(clang::QualType type, Variable& variable) const {
    while (const auto* array = expressions_.context().getAsConstantArrayType(type)) {
      variable.extents.push_back(static_cast<std::int64_t>(array->getSize().getZExtValue()));
      type = array->getElementType();
    }
    return type;
  }

  std::string declare_variable(const std::string& stem, clang::QualType type, ExprPtr value,
                               bool is_const, Block& block) {
    Variable variable;
    const clang::QualType plain =
        take_extents(type.getNonReferenceType(), variable).getUnqualifiedType();
    variable.is_pointer = plain->isPointerType();
    const clang::QualType element = variable.is_pointer ? plain->getPointeeType() : plain;
    variable.type = expressions_.spelling_of(element);
    variable.scalar = scalar_type_of(element);
    variable.is_const = is_const;
    variable.name = unique_name(stem.empty() ? "value" : stem, "of a call");
    block.push_back(std::make_shared<Declaration>(variable, std::move(value)));
    return variable.name;
  }

  void note_changing(const clang::Stmt& body) override {
    changing_.merge(changing_variables(body));
  }

  [[nodiscard]] bool is_changing(const clang::ValueDecl& variable) const override {
    return changing_.contains(&variable);
  }

  // Takes calls into the body, where that is asked for (clang_inline.h).
  void take_calls(const clang::Expr* expr, Block* block) {
    if (opens_) inliner_.take_calls(expr, block);
  }

  KernelParameter convert_parameter(const clang::ParmVarDecl& parameter) {
    KernelParameter result;
    result.name = parameter.getNameAsString();
    clang::QualType type = parameter.getType();
    if (type->isPointerType()) {
      const clang::QualType pointee = type->getPointeeType();
      result.is_pointer = true;
      result.points_to_const = pointee.isConstQualified();
      result.is_restrict = type.isRestrictQualified();
      result.type = pointee.getUnqualifiedType().getAsString(expressions_.policy());
      result.scalar = scalar_type_of(pointee);
    } else {
      result.type = type.getAsString(expressions_.policy());
      result.scalar = scalar_type_of(type);
    }
    return result;
  }

  template <typename Node>
  StmtPtr at(clang::SourceLocation location, std::shared_ptr<Node> stmt) const {
    stmt->line = expressions_.line_of(location);
    return stmt;
  }

  StmtPtr opaque_stmt(const clang::Stmt* node) const {
    std::string text = expressions_.text_of(node->getSourceRange());
    if (!text.ends_with(';') && !text.ends_with('}')) text += ";";
    return at(node->getBeginLoc(), std::make_shared<OpaqueStatement>(std::move(text)));
  }

  // Gives `declaration` a name that is unique unless the same meaning was declared under it before.
  std::string unique_name(const clang::VarDecl* declaration, const std::string& meaning) {
    std::string name = unique_name(declaration->getNameAsString(), meaning);
    expressions_.set_name(declaration, name);
    return name;
  }

  std::string unique_name(const std::string& stem, std::string meaning) {
    // A function's names stand beside those of its next call.
    if (inliner_.is_inside()) meaning += "#" + std::to_string(declared_.size());
    std::string name = stem;
    for (int number = 2;; ++number) {
      const auto [entry, is_new] = declared_.emplace(name, meaning);
      if (is_new || entry->second == meaning) break;
      name = stem + "_" + std::to_string(number);
    }
    return name;
  }

  // The value of an expression; what it does besides goes in front of `block`'s next statement,
  // and behind it to `after` where that is given.
  ExprPtr value_of(const clang::Expr* expr, Block& block, Block* after = nullptr) {
    take_calls(expr, &block);
    if (!takes_apart_ || !has_effects(*expr)) return expressions_.convert(expr);
    SideEffects effects;
    effects.separable = separable_effects(*expr);
    effects.may_follow = after != nullptr;
    ExprPtr value = expressions_.convert(expr, effects);
    if (holds_opaque(value, effects)) return expressions_.convert(expr);
    block.insert(block.end(), effects.before.begin(), effects.before.end());
    if (after != nullptr) after->insert(after->end(), effects.after.begin(), effects.after.end());
    return value;
  }

  // Opaque text may hold effects that are among those separated.
  static bool holds_opaque(const ExprPtr& value, const SideEffects& effects) {
    bool found = false;
    const auto look = [&](const Expr& expr) { found = found || is<OpaqueExpression>(expr); };
    walk(value, look);
    walk_expressions(effects.before, look);
    walk_expressions(effects.after, look);
    return found;
  }

  // b = value of `a = b = value`, where nothing else happens in it; null for anything else.
  static const clang::BinaryOperator* chain_of(const clang::Expr* value) {
    const auto* inner = dyn_cast<clang::BinaryOperator>(value->IgnoreParenImpCasts());
    const bool is_chain = inner != nullptr && inner->getOpcode() == clang::BO_Assign &&
                          !has_effects(*inner->getLHS()) &&
                          !inner->getLHS()->getType().isVolatileQualified();
    if (!is_chain) return nullptr;
    return !has_effects(*inner->getRHS()) || chain_of(inner->getRHS()) != nullptr ? inner : nullptr;
  }

  // What `b = value` leaves in b, which is assigned in `block`.
  ExprPtr value_of_chain(const clang::BinaryOperator* inner, Block& block) {
    const clang::Expr* from = inner->getRHS()->IgnoreParenImpCasts();
    const auto* next = chain_of(from);
    const ExprPtr assigned =
        next != nullptr ? value_of_chain(next, block) : expressions_.convert(from);
    ExprPtr target = expressions_.convert(inner->getLHS());
    block.push_back(at(inner->getBeginLoc(),
                       std::make_shared<Assignment>(target, AssignmentOperator::assign, assigned)));
    const auto* negative = dyn_cast<clang::UnaryOperator>(from);
    if (negative != nullptr && negative->getOpcode() == clang::UO_Minus)
      from = negative->getSubExpr()->IgnoreParenImpCasts();
    const bool is_simple = isa<clang::DeclRefExpr>(from) || isa<clang::IntegerLiteral>(from) ||
                           isa<clang::FloatingLiteral>(from);
    const bool is_same = expressions_.context().hasSameUnqualifiedType(
        inner->getLHS()->getType(), inner->getRHS()->IgnoreParenImpCasts()->getType());
    return is_simple && is_same ? assigned : target;
  }

  // A reference is another name of a place, or of a value that is made for it.
  StmtPtr convert_reference(const clang::VarDecl* declaration, Block& block) {
    const clang::Expr* init = declaration->getInit();
    if (!takes_apart_ || init == nullptr || has_effects(*init)) return nullptr;
    const clang::Expr* bare = init->IgnoreImplicit();
    if (isa<clang::MaterializeTemporaryExpr>(init->IgnoreParens()) || !bare->isLValue()) {
      const clang::QualType type = declaration->getType().getNonReferenceType();
      return type.isConstQualified() ? convert_value(declaration, type, "", block) : nullptr;
    }
    const bool is_fixed = is_fixed_place(*bare, changing_);
    if (auto object = is_fixed ? expressions_.object_at(bare) : std::nullopt) {
      expressions_.set_object(declaration, std::move(*object));
      return scope({});
    }
    take_calls(bare, &block);
    ExprPtr place = expressions_.convert(bare);
    if (is<OpaqueExpression>(place)) return nullptr;
    const auto* element = as<Subscript>(place);
    const bool is_behind_pointer = element != nullptr && is_pointer(*bare);
    if (!is_behind_pointer) {
      if (!is_fixed) return nullptr;
      expressions_.set_meaning(declaration, std::move(place));
      return scope({});
    }
    if (opens_ && parameter_of(*bare) != nullptr) {
      // What does not change needs no pointer: the place is known by its index.
      knows_by_index_ = true;
      const auto& access = *dyn_cast<clang::ArraySubscriptExpr>(bare->IgnoreParenImpCasts());
      const std::string index =
          declare_result(declaration->getNameAsString() + "_index", access.getIdx()->getType(),
                         element->index, true, block);
      expressions_.set_meaning(
          declaration, std::make_shared<Subscript>(
                           element->base, variable(index, element->index->type), element->type));
      return scope({});
    }
    const clang::QualType type = declaration->getType().getNonReferenceType();
    Variable pointer;
    pointer.type = expressions_.spelling_of(type);
    pointer.scalar = scalar_type_of(type);
    pointer.is_pointer = true;
    pointer.is_const = true;
    pointer.name = unique_name(declaration, pointer.type + "&|" + print(place));
    expressions_.set_meaning(
        declaration, std::make_shared<Subscript>(variable(pointer.name, std::nullopt), integer(0),
                                                 pointer.scalar));
    return at(declaration->getBeginLoc(),
              std::make_shared<Declaration>(std::move(pointer), address(std::move(place))));
  }

  // The kernel's own parameter that the place is an element of, where it always leads to the same;
  // else null.
  const clang::ParmVarDecl* parameter_of(const clang::Expr& place) const {
    const auto* element = dyn_cast<clang::ArraySubscriptExpr>(place.IgnoreParenImpCasts());
    const auto* base = element != nullptr
                           ? dyn_cast<clang::DeclRefExpr>(element->getBase()->IgnoreParenImpCasts())
                           : nullptr;
    const auto* parameter =
        base != nullptr ? dyn_cast<clang::ParmVarDecl>(base->getDecl()) : nullptr;
    const bool is_fixed = parameter != nullptr && !changing_.contains(parameter) &&
                          !inliner_.is_inside() && element->getIdx()->getType()->isIntegerType();
    return is_fixed ? parameter : nullptr;
  }

  // An element of what a pointer leads to, not of an array.
  static bool is_pointer(const clang::Expr& place) {
    const auto* element = dyn_cast<clang::ArraySubscriptExpr>(place.IgnoreParenImpCasts());
    return element != nullptr &&
           element->getBase()->IgnoreParenImpCasts()->getType()->isPointerType();
  }

  // `loop_key` tells loops over different ranges apart, "" outside loop headers. What the first
  // value does besides goes to `block`. Null where the IR has no form for it; an empty scope where
  // nothing is left of it.
  StmtPtr convert_declaration(const clang::VarDecl* declaration, const std::string& loop_key,
                              Block& block, Block* after = nullptr) {
    const clang::QualType type = declaration->getType();
    const bool is_shared = declaration->hasAttr<clang::CUDASharedAttr>();
    // Operations that are objects: what they do is taken.
    if (opens_ && !is_shared && (is_empty_record(type) || is_lambda(type))) return scope({});
    if (type->isReferenceType() && !is_shared) return convert_reference(declaration, block);
    if (opens_) {
      const clang::ASTContext& context = expressions_.context();
      const auto* record = flat_record(context.getBaseElementType(type), context);
      if (record != nullptr)
        return inliner_.declare_object(*declaration, *record, block) ? scope({}) : nullptr;
    }
    if (declaration->isStaticLocal() && !is_shared) {
      // Uses of a constant are its value.
      const bool is_constant = type.isConstQualified() && type->isIntegralOrEnumerationType() &&
                               declaration->hasInit() && declaration->evaluateValue() != nullptr;
      return is_constant ? scope({}) : nullptr;
    }
    return convert_value(declaration, type, loop_key, block, after);
  }

  StmtPtr convert_value(const clang::VarDecl* declaration, clang::QualType type,
                        const std::string& loop_key, Block& block, Block* after = nullptr) {
    Variable variable;
    if (declaration->hasAttr<clang::CUDASharedAttr>()) {
      variable.storage =
          declaration->hasExternalStorage() ? Storage::dynamic_shared : Storage::shared;
      if (inliner_.is_inside()) {
        // One for all calls; what has no extent may be the kernel's own under another name.
        if (variable.storage == Storage::dynamic_shared) return nullptr;
        if (expressions_.has_name(declaration)) return scope({});
      }
    }
    if (declaration->hasAttr<clang::AlignedAttr>()) {
      constexpr unsigned kBitsPerByte = 8;
      variable.alignment = static_cast<int>(declaration->getMaxAlignment() / kBitsPerByte);
    }
    while (const auto* array = expressions_.context().getAsArrayType(type)) {
      if (const auto* constant = dyn_cast<clang::ConstantArrayType>(array)) {
        variable.extents.push_back(static_cast<std::int64_t>(constant->getSize().getZExtValue()));
      } else if (isa<clang::IncompleteArrayType>(array)) {
        variable.extents.push_back(0);
      } else {
        return nullptr;
      }
      type = array->getElementType();
    }
    variable.is_const = type.isConstQualified() || declaration->isConstexpr();
    variable.is_pointer = type->isPointerType();
    if (variable.is_pointer) {
      const clang::QualType pointee = type->getPointeeType();
      variable.type = expressions_.spelling_of(pointee);
      variable.scalar = scalar_type_of(pointee);
    } else {
      variable.type = expressions_.spelling_of(type.getUnqualifiedType());
      variable.scalar = scalar_type_of(type);
    }
    if (variable.type.find('(') != std::string::npos) return nullptr;  // function pointers, lambdas
    ExprPtr value;
    if (declaration->hasInit()) {
      const clang::Expr* init = declaration->getInit();
      const auto* construct = dyn_cast<clang::CXXConstructExpr>(init->IgnoreImplicit());
      const bool is_default = construct != nullptr && construct->getNumArgs() == 0;
      if (isa<clang::InitListExpr>(init->IgnoreParenImpCasts())) {
        take_calls(init, &block);
        value = has_effects(*init) ? nullptr : expressions_.convert_list(init);
        if (!value) {
          value = std::make_shared<OpaqueExpression>(expressions_.text_of(init->getSourceRange()),
                                                     std::nullopt);
        }
      } else if (!is_default) {
        const auto* chain = takes_apart_ ? chain_of(init) : nullptr;
        if (chain != nullptr) take_calls(init, &block);
        value = chain != nullptr ? value_of_chain(chain, block) : value_of(init, block, after);
        // The text of x(a) begins with the name.
        const bool is_named =
            construct != nullptr && construct->getBeginLoc() == declaration->getLocation();
        if (is_named && is<OpaqueExpression>(value)) return nullptr;
      }
    }
    const std::string meaning = variable.type + (variable.is_pointer ? "*" : "") + "|" +
                                (value ? print(value) : "") + "|" + loop_key;
    // Storage without a defining value must stay apart.
    variable.name = unique_name(
        declaration, value ? meaning : meaning + std::to_string(expressions_.name_count()));
    const bool is_hoisted = inliner_.is_inside() && variable.storage == Storage::shared;
    StmtPtr stmt = at(declaration->getBeginLoc(),
                      std::make_shared<Declaration>(std::move(variable), std::move(value)));
    if (!is_hoisted) return stmt;
    shared_.push_back(std::move(stmt));
    return scope({});
  }

  // `whole` is target op value; null `value` is 1.
  StmtPtr assignment(const clang::Expr* whole, const clang::Expr* target, const std::string& op,
                     const clang::Expr* value, Block& block, Block& after) {
    take_calls(target, &block);
    take_calls(value, &block);
    const bool has_more = has_effects(*target) || (value != nullptr && has_effects(*value));
    if (!has_more) {
      const ExprPtr assigned = expressions_.convert(target);
      return at(whole->getBeginLoc(),
                std::make_shared<Assignment>(
                    assigned, *assignment_operator(op),
                    value != nullptr ? expressions_.convert(value) : integer(1)));
    }
    if (!takes_apart_) return nullptr;
    const auto* chain = value != nullptr && !has_effects(*target) ? chain_of(value) : nullptr;
    if (chain != nullptr) {
      ExprPtr from = value_of_chain(chain, block);
      return at(whole->getBeginLoc(),
                std::make_shared<Assignment>(expressions_.convert(target), *assignment_operator(op),
                                             std::move(from)));
    }
    // All of it is one expression: what is changed in one part is nowhere else.
    SideEffects effects;
    effects.separable = separable_effects(*whole);
    effects.may_follow = true;
    ExprPtr from = integer(1);
    if (value != nullptr) from = expressions_.convert(value, effects);
    ExprPtr assigned = expressions_.convert(target, effects);
    if (holds_opaque(from, effects) || holds_opaque(assigned, effects)) return nullptr;
    block.insert(block.end(), effects.before.begin(), effects.before.end());
    after.insert(after.end(), effects.after.begin(), effects.after.end());
    return at(whole->getBeginLoc(),
              std::make_shared<Assignment>(std::move(assigned), *assignment_operator(op),
                                           std::move(from)));
  }

  // An assignment, ++, -- or call in statement position; null when it is something else. What it
  // does besides goes to `block`, in front, and to `after`.
  StmtPtr convert_effect(const clang::Expr* expr, Block& block, Block& after) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner))
      return convert_effect(full->getSubExpr(), block, after);
    if (const auto* op = dyn_cast<clang::BinaryOperator>(inner);
        op != nullptr && op->isAssignmentOp()) {
      return assignment(inner, op->getLHS(), op->getOpcodeStr().str(), op->getRHS(), block, after);
    }
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
        opens_ && op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2 &&
        flat_record(op->getArg(0)->getType(), expressions_.context()) != nullptr) {
      const auto* method = dyn_cast_or_null<clang::CXXMethodDecl>(op->getDirectCallee());
      const bool is_copy =
          method != nullptr && method->isDefaulted() && op->getOperator() == clang::OO_Equal;
      const bool is_done = is_copy ? inliner_.assign_object(*op->getArg(0), *op->getArg(1), block)
                                   : inliner_.takes(*op);
      if (!is_copy && is_done) take_calls(op, &block);
      return is_done ? scope({}) : nullptr;
    }
    // __half and its like assign through an operator.
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
        op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2) {
      StmtPtr stmt = assignment(inner, op->getArg(0), clang::getOperatorSpelling(op->getOperator()),
                                op->getArg(1), block, after);
      return !stmt || is<OpaqueExpression>(target_of(*stmt)) ? nullptr : stmt;
    }
    if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
        op != nullptr && op->isIncrementDecrementOp()) {
      return assignment(inner, op->getSubExpr(), op->isIncrementOp() ? "+=" : "-=", nullptr, block,
                        after);
    }
    if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) {
      const clang::FunctionDecl* callee = call_expr->getDirectCallee();
      if (callee != nullptr && callee->getNameAsString() == "__syncthreads")
        return at(expr->getBeginLoc(), std::make_shared<Barrier>());
      if (opens_ && inliner_.takes(*call_expr)) {
        take_calls(call_expr, &block);
        return scope({});
      }
      ExprPtr value = value_of(inner, block, &after);
      if (!is<Call>(value)) return nullptr;
      return at(expr->getBeginLoc(), std::make_shared<Evaluation>(std::move(value)));
    }
    return nullptr;
  }

  Block convert_block(const clang::Stmt* node) {
    Block block;
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
      for (const clang::Stmt* child : compound->body())
        convert_into(child, block);
    } else if (node != nullptr) {
      convert_into(node, block);
    }
    return block;
  }

  // The parts of an expression with commas.
  static void take_apart(const clang::Expr* expr, std::vector<const clang::Expr*>& parts) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner))
      return take_apart(full->getSubExpr(), parts);
    const auto* op = dyn_cast<clang::BinaryOperator>(inner);
    if (op == nullptr || !op->isCommaOp()) {
      parts.push_back(expr);
      return;
    }
    take_apart(op->getLHS(), parts);
    take_apart(op->getRHS(), parts);
  }

  // Whether its header declares or advances more than one variable.
  static bool has_several_parts(const clang::ForStmt& loop) {
    const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
    if (declarations != nullptr && !declarations->isSingleDecl()) return true;
    for (const clang::Stmt* part :
         {loop.getInit(), static_cast<const clang::Stmt*>(loop.getInc())}) {
      const auto* expr = dyn_cast_or_null<clang::Expr>(part);
      if (expr == nullptr) continue;
      std::vector<const clang::Expr*> parts;
      take_apart(expr, parts);
      if (parts.size() > 1) return true;
    }
    return false;
  }

  // The header's first part in `init`, of several the one that the condition asks about; the others
  // stand before the loop. False where the IR has no form for it.
  bool convert_init(const clang::ForStmt* loop, StmtPtr& init, Block& block) {
    if (const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
      std::string key =
          loop->getCond() != nullptr ? expressions_.text_of(loop->getCond()->getSourceRange()) : "";
      key +=
          ";" +
          (loop->getInc() != nullptr ? expressions_.text_of(loop->getInc()->getSourceRange()) : "");
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

  // Whether the header keeps the last of its counters whatever the condition asks about: the
  // compiler sees them in the order in which they are declared and advanced.
  static bool keeps_last(const clang::ForStmt& loop) {
    if (counters_meet(loop)) return true;
    const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
    if (declarations == nullptr || declarations->isSingleDecl() || loop.getInc() == nullptr)
      return false;
    std::vector<const clang::Decl*> declared(declarations->decl_begin(), declarations->decl_end());
    std::vector<const clang::Expr*> parts;
    take_apart(loop.getInc(), parts);
    if (parts.size() != declared.size()) return false;
    for (std::size_t at = 0; at < parts.size(); ++at) {
      if (advanced_by(parts[at]) != declared[at]) return false;
    }
    return true;
  }

  // The variable of `i += 2` or `++i`, null for others.
  static const clang::Decl* advanced_by(const clang::Expr* part) {
    const clang::Expr* bare = part->IgnoreParenImpCasts();
    const clang::Expr* place = nullptr;
    if (const auto* op = dyn_cast<clang::BinaryOperator>(bare);
        op != nullptr && op->isAssignmentOp())
      place = op->getLHS();
    if (const auto* op = dyn_cast<clang::UnaryOperator>(bare);
        op != nullptr && op->isIncrementDecrementOp()) {
      place = op->getSubExpr();
    }
    const auto* reference =
        place != nullptr ? dyn_cast<clang::DeclRefExpr>(place->IgnoreParenImpCasts()) : nullptr;
    return reference != nullptr ? reference->getDecl() : nullptr;
  }

  // Whether the condition compares two counters of the header. The compiler sees them in the order
  // in which they are declared and advanced, so the last of both stays in the header.
  static bool counters_meet(const clang::ForStmt& loop) {
    const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
    if (declarations == nullptr || declarations->isSingleDecl()) return false;
    const auto* comparison = dyn_cast_or_null<clang::BinaryOperator>(
        loop.getCond() != nullptr ? loop.getCond()->IgnoreParenImpCasts() : nullptr);
    const auto* right =
        comparison != nullptr
            ? dyn_cast<clang::DeclRefExpr>(comparison->getRHS()->IgnoreParenImpCasts())
            : nullptr;
    if (right == nullptr) return false;
    const auto counters = declarations->decls();
    return std::find(counters.begin(), counters.end(), right->getDecl()) != counters.end();
  }

  // Whether the condition is `declared < ...` or its like.
  static bool is_asked_first(const clang::Expr* condition, const clang::Decl* declared) {
    const auto* comparison = condition != nullptr
                                 ? dyn_cast<clang::BinaryOperator>(condition->IgnoreParenImpCasts())
                                 : nullptr;
    const auto* reference =
        comparison != nullptr && comparison->isComparisonOp()
            ? dyn_cast<clang::DeclRefExpr>(comparison->getLHS()->IgnoreParenImpCasts())
            : nullptr;
    return reference != nullptr && reference->getDecl() == declared;
  }

  static bool mentions(const Stmt& stmt, const std::string& name) {
    return variables_of(source::value_of(stmt)).contains(name) ||
           variables_of(target_of(stmt)).contains(name);
  }

  // The header's last part in `step`, of several the one that advances what the condition asks
  // about; the others end the body.
  bool convert_step(const clang::ForStmt* loop, StmtPtr& step, Block& body) {
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

  StmtPtr convert_loop(const clang::ForStmt* loop, int unroll, Block& block) {
    if (loop->getConditionVariable() != nullptr) return nullptr;
    if (loop->getCond() != nullptr && has_effects(*loop->getCond())) return nullptr;
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

  static std::optional<int> unroll_of(const clang::AttributedStmt* attributed,
                                      const clang::ASTContext& context) {
    std::optional<int> unroll;
    for (const clang::Attr* attribute : attributed->getAttrs()) {
      const auto* hint = dyn_cast<clang::LoopHintAttr>(attribute);
      if (hint == nullptr) return std::nullopt;
      if (hint->getOption() == clang::LoopHintAttr::UnrollCount) {
        clang::Expr::EvalResult result;
        if (!hint->getValue()->EvaluateAsInt(result, context)) return std::nullopt;
        unroll = static_cast<int>(result.Val.getInt().getExtValue());
      } else if (hint->getOption() == clang::LoopHintAttr::Unroll) {
        const auto state = hint->getState();
        unroll = state == clang::LoopHintAttr::Disable ? 1 : kUnrollFully;
      } else {
        return std::nullopt;
      }
    }
    return unroll;
  }

  void convert_into(const clang::Stmt* node, Block& block) override {
    if (node == nullptr || isa<clang::NullStmt>(node)) return;
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(node)) {
      convert_declarations(declarations, block);
      return;
    }
    // In front of the statement and behind it, if it has a form at all.
    Block before;
    Block after;
    StmtPtr stmt;
    if (const auto* attributed = dyn_cast<clang::AttributedStmt>(node)) {
      const auto unroll = unroll_of(attributed, expressions_.context());
      const auto* loop = dyn_cast<clang::ForStmt>(attributed->getSubStmt());
      if (!unroll || loop == nullptr) {
        block.push_back(opaque_stmt(node));
        return;
      }
      node = loop;
      stmt = convert_loop(loop, *unroll, before);
    } else {
      stmt = convert_statement(node, before, after);
    }
    if (!stmt) {
      block.push_back(opaque_stmt(node));
      return;
    }
    block.insert(block.end(), before.begin(), before.end());
    if (!is_nothing(*stmt)) block.push_back(std::move(stmt));
    block.insert(block.end(), after.begin(), after.end());
  }

  // What is left of a declaration that needs none.
  static bool is_nothing(const Stmt& stmt) {
    return is<Scope>(stmt) && to<Scope>(stmt).body.empty();
  }

  void convert_declarations(const clang::DeclStmt* node, Block& block) {
    Block converted;
    for (const clang::Decl* declaration : node->decls()) {
      if (isa<clang::StaticAssertDecl>(declaration)) continue;
      const auto* variable = dyn_cast<clang::VarDecl>(declaration);
      Block after;
      StmtPtr stmt =
          variable != nullptr ? convert_declaration(variable, "", converted, &after) : nullptr;
      if (!stmt) {
        block.push_back(opaque_stmt(node));
        return;
      }
      if (!is_nothing(*stmt)) converted.push_back(std::move(stmt));
      converted.insert(converted.end(), after.begin(), after.end());
    }
    block.insert(block.end(), converted.begin(), converted.end());
  }

  // while (true) { if (!condition) break; body }, with what the condition does in front of it.
  StmtPtr convert_while(const clang::WhileStmt* repeat) {
    if (repeat->getConditionVariable() != nullptr) return nullptr;
    Block asked;
    ExprPtr condition = value_of(repeat->getCond(), asked);
    Block body;
    if (!asked.empty()) {
      const int line = expressions_.line_of(repeat->getWhileLoc());
      asked.push_back(branch(std::make_shared<Unary>(UnaryOperator::logical_not,
                                                     std::move(condition), ScalarType::boolean),
                             {std::make_shared<Jump>(JumpKind::break_loop)}, {}, line));
      condition = integer(1, "true", ScalarType::i32);
      body = std::move(asked);
    }
    const Block repeated = convert_block(repeat->getBody());
    body.insert(body.end(), repeated.begin(), repeated.end());
    return at(repeat->getWhileLoc(),
              std::make_shared<WhileLoop>(std::move(condition), std::move(body)));
  }

  // What the condition does besides ends the body.
  StmtPtr convert_do(const clang::DoStmt* repeat) {
    if (!takes_apart_) return nullptr;
    if (has_effects(*repeat->getCond()) && has_continue(*repeat->getBody())) return nullptr;
    Block body = convert_block(repeat->getBody());
    ExprPtr condition = value_of(repeat->getCond(), body);
    auto loop = std::make_shared<WhileLoop>(std::move(condition), std::move(body));
    loop->asks_last = true;
    return at(repeat->getDoLoc(), std::move(loop));
  }

  // Null for what the IR has no form for.
  StmtPtr convert_statement(const clang::Stmt* node, Block& before, Block& after) {
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
      Block body = convert_block(compound);
      return scope(std::move(body));
    }
    if (const auto* loop = dyn_cast<clang::ForStmt>(node))
      return convert_loop(loop, kNoUnrollPragma, before);
    if (const auto* choice = dyn_cast<clang::IfStmt>(node)) return convert_branch(choice, before);
    if (const auto* repeat = dyn_cast<clang::WhileStmt>(node)) return convert_while(repeat);
    if (const auto* repeat = dyn_cast<clang::DoStmt>(node)) return convert_do(repeat);
    if (const auto* leave = dyn_cast<clang::ReturnStmt>(node)) {
      if (leave->getRetValue() != nullptr) return nullptr;
      return at(leave->getBeginLoc(), std::make_shared<Return>());
    }
    if (isa<clang::BreakStmt>(node))
      return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::break_loop));
    if (isa<clang::ContinueStmt>(node))
      return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::continue_loop));
    const auto* expr = dyn_cast<clang::Expr>(node);
    if (expr == nullptr) return nullptr;
    std::vector<const clang::Expr*> parts;
    take_apart(expr, parts);
    if (!takes_apart_ && parts.size() > 1) return nullptr;
    StmtPtr stmt;
    for (const clang::Expr* part : parts) {
      if (stmt) before.push_back(std::move(stmt));
      before.insert(before.end(), after.begin(), after.end());
      after.clear();
      // (void)unused;
      const auto* nothing = dyn_cast<clang::CStyleCastExpr>(part->IgnoreParens());
      const bool is_unused = nothing != nullptr && nothing->getType()->isVoidType() &&
                             isa<clang::DeclRefExpr>(nothing->getSubExpr()->IgnoreParenImpCasts());
      stmt = is_unused ? scope({}) : convert_effect(part, before, after);
      if (!stmt) return nullptr;
    }
    return stmt;
  }

  StmtPtr convert_branch(const clang::IfStmt* choice, Block& before) {
    if (choice->getInit() != nullptr || choice->getConditionVariable() != nullptr) return nullptr;
    if (choice->isConstexpr()) {
      bool holds = false;
      if (!choice->getCond()->EvaluateAsBooleanCondition(holds, expressions_.context()))
        return nullptr;
      return scope(convert_block(holds ? choice->getThen() : choice->getElse()));
    }
    ExprPtr condition = value_of(choice->getCond(), before);
    Block body = convert_block(choice->getThen());
    Block otherwise = choice->getElse() != nullptr ? convert_block(choice->getElse()) : Block();
    return at(choice->getIfLoc(), std::make_shared<Branch>(std::move(condition), std::move(body),
                                                           std::move(otherwise)));
  }

  ExpressionConverter expressions_;
  bool takes_apart_;
  bool opens_;
  bool knows_by_index_ = false;  // places that references lead to
  CallInliner inliner_;
  Block shared_;                                 // of functions that were taken
  std::set<const clang::ValueDecl*> changing_;   // (clang_control.h)
  std::map<std::string, std::string> declared_;  // name -> meaning of its declaration
};

}  // namespace

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context,
                              bool takes_apart) {
  return Converter(context, takes_apart, false).convert(function);
}

namespace {

std::optional<Block> opened_body(const clang::FunctionDecl& function, clang::ASTContext& context,
                                 bool opens_memory_calls) {
  Converter converter(context, true, true, opens_memory_calls);
  const auto kernel = converter.convert(function);
  if (!kernel || !converter.has_opened()) return std::nullopt;
  bool is_opaque = false;
  walk(kernel->body, [&](const Stmt& stmt) { is_opaque = is_opaque || is<OpaqueStatement>(stmt); });
  walk_expressions(kernel->body,
                   [&](const Expr& expr) { is_opaque = is_opaque || is<OpaqueExpression>(expr); });
  if (is_opaque) return std::nullopt;
  return kernel->body;
}

}  // namespace

std::optional<Block> convert_opened(const clang::FunctionDecl& function,
                                    clang::ASTContext& context) {
  if (auto whole = opened_body(function, context, true)) return whole;
  return opened_body(function, context, false);
}

}  // namespace regraph::source
