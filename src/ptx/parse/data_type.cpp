#include "ptx/parse/data_type.h"

#include <array>
#include <utility>

namespace regraph::ptx {

std::optional<DataType> data_type_from_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, DataType>, 23> kNames = {{
      {"b8", DataType::b8},          {"u8", DataType::u8},       {"s8", DataType::s8},
      {"b16", DataType::b16},        {"u16", DataType::u16},     {"s16", DataType::s16},
      {"b32", DataType::b32},        {"u32", DataType::u32},     {"s32", DataType::s32},
      {"b64", DataType::b64},        {"u64", DataType::u64},     {"s64", DataType::s64},
      {"f16", DataType::f16},        {"bf16", DataType::bf16},   {"f16x2", DataType::f16x2},
      {"bf16x2", DataType::bf16x2},  {"f32", DataType::f32},     {"f64", DataType::f64},
      {"pred", DataType::predicate}, {"b128", DataType::b128},   {"u16x2", DataType::u16x2},
      {"s16x2", DataType::s16x2},    {"f32x2", DataType::f32x2},
  }};
  for (const auto& [text, type] : kNames) {
    if (text == name) return type;
  }
  return std::nullopt;
}

std::size_t size_in_bytes(DataType type) {
  switch (type) {
    case DataType::b8:
    case DataType::u8:
    case DataType::s8:
    case DataType::predicate:
      return 1;
    case DataType::b16:
    case DataType::u16:
    case DataType::s16:
    case DataType::f16:
    case DataType::bf16:
      return 2;
    case DataType::b64:
    case DataType::u64:
    case DataType::s64:
    case DataType::f64:
    case DataType::f32x2:
      return 8;
    case DataType::b128:
      return 16;
    default:
      return 4;
  }
}

bool is_signed_integer(DataType type) {
  return type == DataType::s8 || type == DataType::s16 || type == DataType::s32 ||
         type == DataType::s64;
}

bool is_floating(DataType type) {
  return type >= DataType::f16 && type <= DataType::f64;
}

}  // namespace regraph::ptx
