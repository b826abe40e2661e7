// Objects within calls that are taken into the body: what CallInliner does with them.
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_inline.h"
#include "source/walk.h"

#include <clang/AST/Attr.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

void note_names(const Object& object, std::set<std::string>& names) {
  for (const auto& [field, value] : object.values)
    if (value) names.merge(variables_of(value));
  for (const auto& [field, part] : object.parts)
    note_names(part, names);
}

// Whether it leaves what it makes as it was in memory, as `T payload[8];` does.
bool is_left(const clang::Expr& init) {
  const auto* made = dyn_cast<clang::CXXConstructExpr>(init.IgnoreImplicit());
  return made != nullptr && made->getNumArgs() == 0 && made->getConstructor()->isTrivial() &&
         !made->requiresZeroInitialization();
}

// Whether a value is computed of what the other object is made of, and would be read too late once
// some of that is set.
bool depends_on(const Object& value, const Object& target) {
  std::set<std::string> read;
  note_names(value, read);
  std::set<std::string> written;
  note_names(target, written);
  return std::ranges::any_of(read, [&](const std::string& name) { return written.contains(name); });
}

// The element of an array, which is one or a list of values; null where the list says nothing.
ExprPtr element_at(const ExprPtr& array, std::size_t at, std::optional<ScalarType> scalar) {
  if (const auto* list = as<InitializerList>(array))
    return at < list->values.size() ? list->values[at] : nullptr;
  return std::make_shared<Subscript>(array, integer(static_cast<std::int64_t>(at)), scalar);
}

// The values of an array's elements as a list.
ExprPtr list_of_elements(const ExprPtr& array, const clang::ArrayType& type) {
  if (is<InitializerList>(array)) return array;
  const auto* constant = dyn_cast<clang::ConstantArrayType>(&type);
  if (constant == nullptr) return nullptr;
  const clang::QualType element = constant->getElementType();
  std::vector<ExprPtr> values;
  for (std::size_t at = 0; at < constant->getSize().getZExtValue(); ++at) {
    ExprPtr value = element_at(array, at, scalar_type_of(element));
    const auto* inner = element->getAsArrayTypeUnsafe();
    values.push_back(inner != nullptr ? list_of_elements(value, *inner) : std::move(value));
  }
  return std::make_shared<InitializerList>("", std::move(values));
}

// target = value, element by element; what the value says nothing of is zero.
void assign_elements(const ExprPtr& target, const ExprPtr& value, const clang::ArrayType& type,
                     Block& block) {
  const auto* constant = dyn_cast<clang::ConstantArrayType>(&type);
  const std::size_t count = constant != nullptr ? constant->getSize().getZExtValue() : 0;
  const clang::QualType element = type.getElementType();
  const auto scalar = scalar_type_of(element);
  for (std::size_t at = 0; at < count; ++at) {
    const ExprPtr to = element_at(target, at, scalar);
    ExprPtr from = element_at(value, at, scalar);
    if (const auto* inner = element->getAsArrayTypeUnsafe()) {
      if (!from) from = std::make_shared<InitializerList>("", std::vector<ExprPtr>());
      assign_elements(to, from, *inner, block);
    } else {
      if (!from) {
        from = scalar ? zero_of(*scalar)
                      : std::make_shared<InitializerList>(
                            element.getUnqualifiedType().getAsString(), std::vector<ExprPtr>());
      }
      block.push_back(assign(to, from));
    }
  }
}

// Whether it is an array whose elements have a zero.
bool has_zeros(clang::QualType type, const clang::ASTContext& context) {
  return type->isArrayType() && scalar_type_of(context.getBaseElementType(type));
}

void assign_each(const Object& target, const Object& value, const clang::CXXRecordDecl& record,
                 Block& block) {
  for (const clang::FieldDecl* field : fields_of_record(record)) {
    if (const auto part = target.parts.find(field); part != target.parts.end()) {
      const auto from = value.parts.find(field);
      if (from != value.parts.end())
        assign_each(part->second, from->second, *field->getType()->getAsCXXRecordDecl(), block);
      continue;
    }
    const auto to = target.values.find(field);
    const auto from = value.values.find(field);
    const bool is_set = to != target.values.end() && from != value.values.end() && from->second;
    if (!is_set || to->second == from->second) continue;
    if (const auto* array = field->getType()->getAsArrayTypeUnsafe()) {
      assign_elements(to->second, from->second, *array, block);
    } else {
      block.push_back(assign(to->second, from->second));
    }
  }
}

}  // namespace

bool CallInliner::handles_objects(const clang::FunctionDecl& function) const {
  const clang::ASTContext& context = expressions_.context();
  const auto is_object = [&](clang::QualType type) {
    const clang::QualType plain = type.getNonReferenceType();
    return is_lambda(plain) || flat_record(plain, context) != nullptr ||
           (plain->isPointerType() && flat_record(plain->getPointeeType(), context) != nullptr);
  };
  return is_object(function.getReturnType()) ||
         std::ranges::any_of(function.parameters(), [&](const clang::ParmVarDecl* parameter) {
           return is_object(parameter->getType());
         });
}

bool CallInliner::bind_object(const clang::ParmVarDecl& parameter, const clang::Expr& argument,
                              Block& block) {
  const clang::QualType type = parameter.getType();
  const clang::CXXRecordDecl* record =
      flat_record(type.getNonReferenceType(), expressions_.context());
  if (record == nullptr) return false;
  // What is passed is written where the call stands.
  expressions_.set_elsewhere(active_.size() > 1);
  std::optional<Object> object = object_value(argument, block);
  expressions_.set_elsewhere(true);
  if (!object) return false;
  const bool is_reference = type->isReferenceType();
  const bool is_changeable = is_reference && !type.getNonReferenceType().isConstQualified();
  const bool has_place = bare_value(&argument)->isLValue();
  if (is_changeable && !has_place) return false;
  if (!is_reference || !has_place) {
    object = in_variables(*record, *object, parameter.getNameAsString(),
                          !bodies_.is_changing(parameter), block);
  }
  expressions_.set_object(&parameter, std::move(*object));
  return true;
}

std::optional<Object> CallInliner::owner_of_call(const clang::Expr& object, bool is_changed,
                                                 Block& block) {
  if (object.getType()->isPointerType()) return std::nullopt;
  if (auto known = expressions_.object_at(&object)) return known;
  const clang::CXXRecordDecl* record = flat_record(object.getType(), expressions_.context());
  std::optional<Object> value;
  if (record != nullptr) value = object_value(object, block);
  if (!value || bare_value(&object)->isLValue()) return value;
  return in_variables(*record, *value, "object", !is_changed, block);
}

std::optional<Object> CallInliner::object_value(const clang::Expr& expr, Block& block) {
  const clang::Expr* inner = bare_value(&expr);
  if (auto known = expressions_.object_at(inner)) return known;
  const clang::CXXRecordDecl* record = flat_record(inner->getType(), expressions_.context());
  if (record == nullptr) return std::nullopt;
  if (const auto* list = dyn_cast<clang::InitListExpr>(inner)) return value_of_list(*list, block);
  if (const auto* made = dyn_cast<clang::CXXConstructExpr>(inner))
    return value_of_constructor(*made, block);
  if (isa<clang::ImplicitValueInitExpr>(inner) || isa<clang::CXXScalarValueInitExpr>(inner)) {
    bool is_known = true;
    Object zeros = map_object(*record, {}, [&](const Leaf& leaf, const ExprPtr&) -> ExprPtr {
      const clang::QualType type = leaf.field->getType();
      const auto scalar = scalar_type_of(type);
      is_known = is_known && (scalar || has_zeros(type, expressions_.context()));
      if (type->isArrayType()) return std::make_shared<InitializerList>("", std::vector<ExprPtr>());
      return scalar ? zero_of(*scalar) : nullptr;
    });
    return is_known ? std::optional(std::move(zeros)) : std::nullopt;
  }
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(inner)) {
    if (has_effects(*choice->getCond())) return std::nullopt;
    Block on_the_way;
    const auto then = object_value(*choice->getTrueExpr(), on_the_way);
    const auto otherwise = object_value(*choice->getFalseExpr(), on_the_way);
    if (!then || !otherwise || !on_the_way.empty()) return std::nullopt;
    ExprPtr condition = expressions_.convert(choice->getCond());
    bool calls = false;
    walk(condition, [&](const Expr& part) { calls = calls || is<Call>(part); });
    if (calls) {
      condition = variable(bodies_.declare_result("chosen", expressions_.context().BoolTy,
                                                  std::move(condition), true, block),
                           ScalarType::boolean);
    }
    Object chosen;
    if (!choose(*record, condition, *then, *otherwise, chosen)) return std::nullopt;
    return chosen;
  }
  // In memory: each field where it lies.
  if (!inner->isLValue() || has_effects(*inner)) return std::nullopt;
  const ExprPtr place = expressions_.convert(inner);
  if (is<OpaqueExpression>(place)) return std::nullopt;
  return fields_at(place, *record);
}

Object CallInliner::fields_at(const ExprPtr& place, const clang::CXXRecordDecl& record) {
  Object result;
  for (const clang::FieldDecl* field : fields_of_record(record)) {
    const clang::QualType type = field->getType();
    const auto scalar = scalar_type_of(type);
    const ExprPtr at = member(place, field->getNameAsString(), scalar);
    if (scalar || type->isPointerType() || type->isArrayType()) {
      result.values[field] = at;
    } else {
      result.parts[field] = fields_at(at, *type->getAsCXXRecordDecl());
    }
  }
  return result;
}

// False for arrays: there is no choice between them.
bool CallInliner::choose(const clang::CXXRecordDecl& record, const ExprPtr& condition,
                         const Object& then, const Object& otherwise, Object& result) {
  for (const clang::FieldDecl* field : fields_of_record(record)) {
    if (field->getType()->isArrayType()) return false;
    if (const auto part = then.parts.find(field); part != then.parts.end()) {
      if (!choose(*field->getType()->getAsCXXRecordDecl(), condition, part->second,
                  otherwise.parts.at(field), result.parts[field])) {
        return false;
      }
      continue;
    }
    result.values[field] =
        std::make_shared<Conditional>(condition, then.values.at(field), otherwise.values.at(field),
                                      scalar_type_of(field->getType()));
  }
  return true;
}

std::optional<Object> CallInliner::value_of_list(const clang::InitListExpr& list, Block& block) {
  const clang::InitListExpr& values =
      list.isSemanticForm() || list.getSemanticForm() == nullptr ? list : *list.getSemanticForm();
  const auto* record = values.getType()->getAsCXXRecordDecl();
  if (record == nullptr || record->getNumBases() > 0) return std::nullopt;
  Object object;
  unsigned at = 0;
  for (const clang::FieldDecl* field : record->getDefinition()->fields()) {
    if (at >= values.getNumInits()) return std::nullopt;
    if (!set_field(*field, *values.getInit(at++), object, block)) return std::nullopt;
  }
  return object;
}

std::optional<Object> CallInliner::value_of_constructor(const clang::CXXConstructExpr& made,
                                                        Block& block) {
  const clang::FunctionDecl* defined = nullptr;
  const clang::Stmt* body = made.getConstructor()->getBody(defined);
  const auto* constructor = dyn_cast_or_null<clang::CXXConstructorDecl>(defined);
  if (constructor == nullptr) {
    // Left as it is until its fields are set.
    return is_left(made) ? std::optional(Object()) : std::nullopt;
  }
  const std::vector<const clang::Expr*> arguments(made.arg_begin(), made.arg_end());
  if (arguments.size() != constructor->getNumParams()) return std::nullopt;
  if (!active_.insert(constructor).second) return std::nullopt;
  bodies_.note_changing(*body);
  bool is_made = bind(*constructor, arguments, nullptr, block);
  expressions_.set_elsewhere(true);
  Object object;
  for (const clang::CXXCtorInitializer* one : constructor->inits()) {
    if (!is_made) break;
    const std::size_t before = block.size();
    if (one->isMemberInitializer() && is_left(*one->getInit())) continue;
    if (one->isMemberInitializer()) {
      is_made = set_field(*one->getMember(), *one->getInit(), object, block);
    } else if (one->isBaseInitializer()) {
      if (is_empty_record(one->getBaseClass()->getCanonicalTypeInternal())) continue;
      auto base = object_value(*one->getInit(), block);
      is_made = base.has_value();
      if (!base) break;
      object.values.merge(base->values);
      object.parts.merge(base->parts);
    } else {
      is_made = false;
    }
    // Earlier fields would be read behind it.
    const bool is_first = one == *constructor->init_begin();
    is_made = is_made && (is_first || !changes_anything(block, before));
  }
  const auto* statements = dyn_cast<clang::CompoundStmt>(body);
  if (is_made && (statements == nullptr || !statements->body_empty())) {
    object = in_variables(*constructor->getParent(), object, "object", false, block);
    auto before = expressions_.exchange_this(object);
    Outcome nothing{.type = expressions_.context().VoidTy};
    is_made = statements != nullptr &&
              convert_body({statements->body_begin(), statements->body_end()}, nothing, block);
    (void)expressions_.exchange_this(std::move(before));
  }
  active_.erase(constructor);
  expressions_.set_elsewhere(is_inside());
  return is_made && !failed_ ? std::optional(std::move(object)) : std::nullopt;
}

bool CallInliner::set_field(const clang::FieldDecl& field, const clang::Expr& init, Object& object,
                            Block& block) {
  if (is_empty_record(field.getType())) return !has_effects(init);
  take_calls(bare_value(&init), &block);
  if (failed_) return false;
  if (flat_record(field.getType(), expressions_.context()) != nullptr) {
    auto part = object_value(init, block);
    if (part) object.parts[&field] = std::move(*part);
    return part.has_value();
  }
  ExprPtr value = field_value(field, init);
  if (value) object.values[&field] = value;
  return value != nullptr;
}

ExprPtr CallInliner::field_value(const clang::FieldDecl& field, const clang::Expr& value) {
  const clang::Expr* inner = bare_value(&value);
  if (has_effects(*inner)) return nullptr;
  const clang::QualType type = field.getType();
  const auto scalar = scalar_type_of(type);
  if (type->isArrayType()) {
    if (isa<clang::ImplicitValueInitExpr>(inner)) {
      return has_zeros(type, expressions_.context())
                 ? std::make_shared<InitializerList>("", std::vector<ExprPtr>())
                 : nullptr;
    }
    return expressions_.convert_list(inner);
  }
  if (!scalar && !type->isPointerType()) return nullptr;
  if (isa<clang::ImplicitValueInitExpr>(inner)) return scalar ? zero_of(*scalar) : nullptr;
  ExprPtr converted = expressions_.convert(inner);
  if (scalar && converted->type != scalar)
    converted = cast(std::string(cuda_name(*scalar)), std::move(converted));
  return converted;
}

Object CallInliner::in_variables(const clang::CXXRecordDecl& record, const Object& object,
                                 const std::string& stem, bool is_const, Block& block) {
  return map_object(record, object, [&](const Leaf& leaf, const ExprPtr& value) {
    const clang::QualType type = leaf.field->getType();
    const auto* array = type->getAsArrayTypeUnsafe();
    const ExprPtr given = array != nullptr && value ? list_of_elements(value, *array) : value;
    const bool is_fixed = is_const && given && array == nullptr;
    return variable(bodies_.declare_result(stem + leaf.name, type, given, is_fixed, block),
                    scalar_type_of(type));
  });
}

bool CallInliner::declare_object(const clang::VarDecl& declaration,
                                 const clang::CXXRecordDecl& record, Block& block) {
  const bool is_shared = declaration.hasAttr<clang::CUDASharedAttr>();
  const bool is_array = declaration.getType()->isArrayType();
  if (declaration.isStaticLocal() && !is_shared) return false;
  // One for all calls.
  if (is_shared && expressions_.has_object(&declaration)) return true;
  Object object;
  if (declaration.hasInit()) {
    const clang::Expr* init = declaration.getInit();
    const auto* made = dyn_cast<clang::CXXConstructExpr>(bare_value(init));
    const bool is_left =
        made != nullptr && made->getNumArgs() == 0 && made->getConstructor()->isTrivial();
    if ((is_array || is_shared) && !is_left) return false;
    if (!is_left) {
      take_calls(init, &block);
      if (failed_) return false;
      auto value = object_value(*init, block);
      if (!value) return false;
      object = std::move(*value);
    }
  }
  bool is_declared = true;
  Object variables = map_object(record, object, [&](const Leaf& leaf, const ExprPtr& value) {
    const clang::QualType type = leaf.field->getType();
    const auto* array = type->getAsArrayTypeUnsafe();
    const ExprPtr given = array != nullptr && value ? list_of_elements(value, *array) : value;
    const auto name = bodies_.declare_field(declaration, declaration.getNameAsString() + leaf.name,
                                            type, given, block);
    is_declared = is_declared && name;
    return variable(name.value_or(""), scalar_type_of(type));
  });
  if (!is_declared) return false;
  expressions_.set_object(&declaration, std::move(variables));
  took_any_ = true;
  return true;
}

bool CallInliner::assign_object(const clang::Expr& target, const clang::Expr& value, Block& block) {
  const clang::CXXRecordDecl* record = flat_record(target.getType(), expressions_.context());
  if (record == nullptr || !bare_value(&target)->isLValue()) return false;
  take_calls(&value, &block);
  take_calls(&target, &block);
  if (failed_) return false;
  const auto to = object_value(target, block);
  const auto from = object_value(value, block);
  if (!to || !from) return false;
  assign_fields(*record, *to, *from, block);
  return true;
}

void CallInliner::assign_fields(const clang::CXXRecordDecl& record, const Object& target,
                                const Object& value, Block& block) {
  const Object from =
      depends_on(value, target) ? in_variables(record, value, "value", true, block) : value;
  assign_each(target, from, record, block);
}

}  // namespace regraph::source
