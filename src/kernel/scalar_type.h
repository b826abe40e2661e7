// Element types of kernel arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace regraph {

enum class ScalarType : std::uint8_t {
  boolean,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
};

[[nodiscard]] std::size_t size_in_bytes(ScalarType type);
[[nodiscard]] bool is_floating(ScalarType type);
// Whether every value of `narrow` is one of `wide`: converting there and back changes nothing.
[[nodiscard]] bool holds_values_of(ScalarType wide, ScalarType narrow);
// Returns the CUDA C++ spelling, e.g. "unsigned int", "__half".
[[nodiscard]] std::string_view cuda_name(ScalarType type);
// Accepts CUDA C++ spellings and common synonyms ("uint", "size_t", "int32_t", "half", ...).
[[nodiscard]] std::optional<ScalarType> scalar_type_from_cuda_name(std::string_view name);

}  // namespace regraph
