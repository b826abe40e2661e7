#include "source/clang_records.h"

#include "source/clang_expressions.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecordLayout.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace regraph::source {
namespace {

constexpr std::size_t kMostFields = 4096;

class RecordReader {
 public:
  explicit RecordReader(const clang::ASTContext& context) : context_(context) {}

  bool read(const clang::CXXRecordDecl& record, std::int64_t begin, const std::string& prefix) {
    if (record.isDynamicClass() || record.isInvalidDecl()) return false;
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
    for (const clang::CXXBaseSpecifier& base : record.bases()) {
      const auto* of_base = base.getType()->getAsCXXRecordDecl();
      if (of_base == nullptr || of_base->isEmpty()) continue;
      if (!read(*of_base, begin + layout.getBaseClassOffset(of_base).getQuantity(), prefix))
        return false;
    }
    for (const clang::FieldDecl* field : record.fields()) {
      const auto bits = static_cast<std::int64_t>(layout.getFieldOffset(field->getFieldIndex()));
      const std::string name = prefix + field->getNameAsString();
      if (field->isBitField() || record.isUnion()) {
        // Its bytes, whatever they mean.
        const std::int64_t bytes =
            field->isBitField() ? 1 : context_.getTypeSizeInChars(field->getType()).getQuantity();
        add({name, begin + bits / 8, ScalarType::u8, bytes});
      } else if (!read_field(field->getType(), begin + bits / 8, name)) {
        return false;
      }
    }
    return layout_.fields.size() <= kMostFields;
  }

  RecordLayout finish(std::int64_t bytes) {
    layout_.bytes = bytes;
    auto& fields = layout_.fields;
    std::ranges::stable_sort(fields, {}, &Field::byte);
    std::int64_t covered = 0;
    bool alike = !fields.empty() && !layout_.has_pointers;
    for (const Field& field : fields) {
      alike = alike && field.type == fields.front().type && field.byte == covered;
      covered += field.components * static_cast<std::int64_t>(size_in_bytes(field.type));
    }
    if (alike && covered == bytes) layout_.only_type = fields.front().type;
    return std::move(layout_);
  }

 private:
  bool read_field(clang::QualType type, std::int64_t byte, const std::string& name) {
    if (type->isReferenceType()) return false;
    if (type->isPointerType()) {
      read_pointer(type->getPointeeType(), byte, name);
      return true;
    }
    if (type->isEnumeralType()) type = type->castAs<clang::EnumType>()->getDecl()->getIntegerType();
    if (const auto scalar = scalar_type_of(type)) {
      add({name, byte, *scalar});
      return true;
    }
    if (const auto [scalar, count] = components_of(type, context_); scalar) {
      add({name, byte, *scalar, count});
      return true;
    }
    if (const auto* array = context_.getAsConstantArrayType(type)) {
      const auto count = static_cast<std::int64_t>(array->getSize().getZExtValue());
      const std::int64_t stride =
          context_.getTypeSizeInChars(array->getElementType()).getQuantity();
      for (std::int64_t i = 0; i < count; ++i) {
        if (layout_.fields.size() > kMostFields ||
            !read_field(array->getElementType(), byte + i * stride,
                        name + "[" + std::to_string(i) + "]")) {
          return false;
        }
      }
      return true;
    }
    const auto* record = type->getAsCXXRecordDecl();
    return record != nullptr && record->hasDefinition() && read(*record, byte, name + ".");
  }

  void read_pointer(clang::QualType pointee, std::int64_t byte, const std::string& name) {
    Field field{name, byte};
    field.is_pointer = true;
    field.points_to_const = pointee.isConstQualified();
    auto scalar = scalar_type_of(pointee);
    if (!scalar) std::tie(scalar, field.components) = components_of(pointee, context_);
    if (!scalar) {
      scalar = ScalarType::u8;  // of things that are not looked into
      field.components = 1;
      if (!pointee->isIncompleteType() && !pointee->isFunctionType())
        field.components = context_.getTypeSizeInChars(pointee).getQuantity();
    }
    field.type = *scalar;
    layout_.has_pointers = true;
    layout_.fields.push_back(std::move(field));
  }

  void add(Field field) { layout_.fields.push_back(std::move(field)); }

  const clang::ASTContext& context_;
  RecordLayout layout_;
};

}  // namespace

std::optional<RecordLayout> layout_of_record(clang::QualType type,
                                             const clang::ASTContext& context) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || record->isDependentType()) return {};
  const std::int64_t bytes = context.getTypeSizeInChars(type).getQuantity();
  RecordReader reader(context);
  if (!reader.read(*record, 0, "")) return {};
  return reader.finish(bytes);
}

std::pair<std::optional<ScalarType>, std::int64_t> components_of(clang::QualType type,
                                                                 const clang::ASTContext& context) {
  if (type->isConstantArrayType()) {
    std::int64_t count = 1;
    while (const auto* array = context.getAsConstantArrayType(type)) {
      count *= static_cast<std::int64_t>(array->getSize().getZExtValue());
      type = array->getElementType();
    }
    return {scalar_type_of(type), count};
  }
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition()) return {};
  std::string name = type.getCanonicalType().getUnqualifiedType().getAsString();
  name = name.substr(name.find(' ') == std::string::npos ? 0 : name.find(' ') + 1);
  constexpr std::array<std::string_view, 12> kFamilies = {
      "char", "uchar", "short",    "ushort",    "int",   "uint",
      "long", "ulong", "longlong", "ulonglong", "float", "double"};
  const bool is_vector =
      name.size() > 1 && name.back() >= '1' && name.back() <= '4' &&
      std::find(kFamilies.begin(), kFamilies.end(),
                std::string_view(name).substr(0, name.size() - 1)) != kFamilies.end();
  if (!is_vector) return {};
  return {scalar_type_of(record->field_begin()->getType()), name.back() - '0'};
}

bool is_vector(clang::QualType type, const clang::ASTContext& context) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr) return false;
  const auto* name = record->getIdentifier();
  const bool is_pair = name != nullptr && (name->isStr("__half2") || name->isStr("__nv_bfloat162"));
  return is_pair || components_of(type, context).first.has_value();
}

}  // namespace regraph::source
