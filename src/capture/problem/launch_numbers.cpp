#include "capture/problem/launch_numbers.h"

#include <cstring>

namespace regraph::capture {
namespace {

std::string as_symbol(std::string name) {
  for (char& c : name) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!word) c = '_';
  }
  return name;
}

template <typename Type>
std::int64_t value_at(std::span<const std::byte> block, std::size_t byte) {
  Type value;
  std::memcpy(&value, block.data() + byte, sizeof value);
  return static_cast<std::int64_t>(value);
}

std::string of_stage(const std::string& name, std::size_t stage) {
  return stage == 0 ? name : name + "_" + std::to_string(stage);
}

}  // namespace

std::string grid_symbol(std::size_t axis, std::size_t stage) {
  return of_stage(std::string("grid_") + "xyz"[axis], stage);
}

std::string shared_symbol(std::size_t stage) {
  return of_stage("shared_bytes", stage);
}

std::string length_symbol(const std::string& pointer) {
  return as_symbol(pointer) + "_length";
}

std::string begin_symbol(const std::string& pointer) {
  return as_symbol(pointer) + "_begin";
}

std::int64_t integer_at(std::span<const std::byte> block, std::size_t byte, ScalarType type) {
  switch (type) {
    case ScalarType::i8:
      return value_at<std::int8_t>(block, byte);
    case ScalarType::i16:
      return value_at<std::int16_t>(block, byte);
    case ScalarType::u16:
      return value_at<std::uint16_t>(block, byte);
    case ScalarType::i32:
      return value_at<std::int32_t>(block, byte);
    case ScalarType::u32:
      return value_at<std::uint32_t>(block, byte);
    case ScalarType::i64:
    case ScalarType::u64:
      return value_at<std::int64_t>(block, byte);
    default:
      return value_at<std::uint8_t>(block, byte);
  }
}

std::size_t place_of(const KernelSignature& signature, const Parameter& pointer) {
  const std::string& holder = pointer.inside.empty() ? pointer.name : pointer.inside;
  std::size_t place = 0;
  for (const Parameter& parameter : signature.parameters) {
    if (!parameter.is_passed()) continue;
    if (parameter.name == holder) break;
    ++place;
  }
  return place;
}

}  // namespace regraph::capture
