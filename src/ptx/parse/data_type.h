// The fundamental types of PTX instructions and registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace regraph::ptx {

enum class DataType : std::uint8_t {
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  b32,
  u32,
  s32,
  b64,
  u64,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64,
  predicate,
  b128,
  u16x2,
  s16x2,
  f32x2,
};

// Returns the type of a suffix such as "f32" (no dot); none for any other word.
[[nodiscard]] std::optional<DataType> data_type_from_name(std::string_view name);
// Size of one value; a predicate counts as one byte.
[[nodiscard]] std::size_t size_in_bytes(DataType type);
[[nodiscard]] bool is_signed_integer(DataType type);
// f16, bf16 and their pairs, f32, f64; not f32x2.
[[nodiscard]] bool is_floating(DataType type);

}  // namespace regraph::ptx
