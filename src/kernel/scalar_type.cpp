#include "kernel/scalar_type.h"

#include <array>
#include <utility>

namespace regraph {

std::size_t size_in_bytes(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
    case ScalarType::i8:
    case ScalarType::u8:
      return 1;
    case ScalarType::i16:
    case ScalarType::u16:
    case ScalarType::f16:
    case ScalarType::bf16:
      return 2;
    case ScalarType::i32:
    case ScalarType::u32:
    case ScalarType::f32:
      return 4;
    case ScalarType::i64:
    case ScalarType::u64:
    case ScalarType::f64:
      return 8;
  }
  return 0;
}

bool is_floating(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

bool holds_values_of(ScalarType wide, ScalarType narrow) {
  if (wide == narrow) return true;
  const auto is_unsigned = [](ScalarType type) {
    return type == ScalarType::boolean || type == ScalarType::u8 || type == ScalarType::u16 ||
           type == ScalarType::u32 || type == ScalarType::u64;
  };
  const std::size_t from = size_in_bytes(narrow);
  const std::size_t to = size_in_bytes(wide);
  if (wide == ScalarType::boolean) return false;
  if (narrow == ScalarType::boolean) return true;
  if (is_floating(narrow)) return is_floating(wide) && from < to;
  if (is_floating(wide)) {
    // Integers of 8 bits are exact in every floating type, those of 16 in float, of 32 in double.
    const std::size_t exact = to == 8 ? 4 : to == 4 ? 2 : 1;
    return from <= exact;
  }
  return from < to && (is_unsigned(narrow) || !is_unsigned(wide));
}

std::string_view cuda_name(ScalarType type) {
  switch (type) {
    case ScalarType::boolean:
      return "bool";
    case ScalarType::i8:
      return "signed char";
    case ScalarType::u8:
      return "unsigned char";
    case ScalarType::i16:
      return "short";
    case ScalarType::u16:
      return "unsigned short";
    case ScalarType::i32:
      return "int";
    case ScalarType::u32:
      return "unsigned int";
    case ScalarType::i64:
      return "long long";
    case ScalarType::u64:
      return "unsigned long long";
    case ScalarType::f16:
      return "__half";
    case ScalarType::bf16:
      return "__nv_bfloat16";
    case ScalarType::f32:
      return "float";
    case ScalarType::f64:
      return "double";
  }
  return "";
}

std::optional<ScalarType> scalar_type_from_cuda_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, ScalarType>, 38> kNames = {{
      {"bool", ScalarType::boolean},      {"char", ScalarType::i8},
      {"signed char", ScalarType::i8},    {"int8_t", ScalarType::i8},
      {"unsigned char", ScalarType::u8},  {"uint8_t", ScalarType::u8},
      {"uchar", ScalarType::u8},          {"short", ScalarType::i16},
      {"int16_t", ScalarType::i16},       {"unsigned short", ScalarType::u16},
      {"uint16_t", ScalarType::u16},      {"ushort", ScalarType::u16},
      {"int", ScalarType::i32},           {"int32_t", ScalarType::i32},
      {"unsigned int", ScalarType::u32},  {"unsigned", ScalarType::u32},
      {"uint", ScalarType::u32},          {"uint32_t", ScalarType::u32},
      {"long", ScalarType::i64},          {"long long", ScalarType::i64},
      {"int64_t", ScalarType::i64},       {"ptrdiff_t", ScalarType::i64},
      {"unsigned long", ScalarType::u64}, {"unsigned long long", ScalarType::u64},
      {"uint64_t", ScalarType::u64},      {"size_t", ScalarType::u64},
      {"ulong", ScalarType::u64},         {"half", ScalarType::f16},
      {"__half", ScalarType::f16},        {"c10::Half", ScalarType::f16},
      {"f16", ScalarType::f16},           {"__nv_bfloat16", ScalarType::bf16},
      {"nv_bfloat16", ScalarType::bf16},  {"c10::BFloat16", ScalarType::bf16},
      {"bf16", ScalarType::bf16},         {"float", ScalarType::f32},
      {"double", ScalarType::f64},        {"double_t", ScalarType::f64},
  }};
  for (const auto& [spelling, type] : kNames) {
    if (spelling == name) return type;
  }
  return std::nullopt;
}

}  // namespace regraph
