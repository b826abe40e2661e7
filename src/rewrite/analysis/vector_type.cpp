#include "rewrite/analysis/vector_type.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

namespace regraph::rewrite {

namespace {

constexpr int kMostBytes = 64;

}  // namespace

std::string vector_type(ScalarType scalar, int width) {
  static const std::map<ScalarType, std::string> kStems = {
      {ScalarType::f32, "float"}, {ScalarType::i32, "int"},    {ScalarType::u32, "uint"},
      {ScalarType::i16, "short"}, {ScalarType::u16, "ushort"}, {ScalarType::i8, "char"},
      {ScalarType::u8, "uchar"},  {ScalarType::f64, "double"}};
  const auto found = kStems.find(scalar);
  const auto bytes = static_cast<std::int64_t>(size_in_bytes(scalar)) * width;
  constexpr int kMostComponents = 4;
  if (found == kStems.end() || bytes > kWidestAccess || width > kMostComponents) return "";
  return found->second + std::to_string(width);
}

int VectorShape::alignment() const {
  return std::min(bytes(), static_cast<int>(kWidestAccess));
}

bool can_be_moved(const VectorShape& shape) {
  const bool is_width =
      shape.width == 2 || shape.width == 4 || shape.width == 8 || shape.width == 16;
  return is_width && shape.scalar != ScalarType::boolean && shape.bytes() <= kMostBytes;
}

std::string component_name(int number) {
  constexpr std::array<const char*, 4> kComponents = {"x", "y", "z", "w"};
  return kComponents.at(static_cast<std::size_t>(number));
}

}  // namespace regraph::rewrite
