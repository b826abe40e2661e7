#include "rewrite/analysis/packed_weight.h"

#include "rewrite/forms/small_tables.h"
#include "source/match.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr int kNibbles = 8;
constexpr int kNibbleBits = 4;
constexpr std::int64_t kMask = 15;

// Of a literal of any type, where it is an integer.
std::optional<std::int64_t> number_of(const ExprPtr& expr) {
  if (const auto* minus = as_unary(expr, UnaryOperator::minus)) {
    const auto value = number_of(minus->operand);
    return value ? std::optional(-*value) : std::nullopt;
  }
  if (const auto* cast = as<Cast>(expr)) return number_of(cast->operand);
  if (const auto* literal = as<FloatingLiteral>(expr)) {
    const double value = std::strtod(literal->spelling.c_str(), nullptr);
    const auto whole = value >= -kMask && value <= kMask ? static_cast<std::int64_t>(value) : kMask;
    return static_cast<double>(whole) == value ? std::optional(whole) : std::nullopt;
  }
  return number_of_literals(expr);
}

bool is_word(const ExprPtr& expr) {
  return is<Subscript>(expr) && (expr->type == ScalarType::u32 || expr->type == ScalarType::i32);
}

// What stands behind conversions between integers of 32 bits and to 64, whose low bits are the
// same.
ExprPtr same_bits(const ExprPtr& expr) {
  const auto* cast = as<Cast>(expr);
  const bool keeps = cast != nullptr && expr->type && !is_floating(*expr->type) &&
                     size_in_bytes(*expr->type) >= 4 && cast->operand->type &&
                     !is_floating(*cast->operand->type);
  return keeps ? same_bits(cast->operand) : expr;
}

// The word and how far it is shifted, in nibbles.
std::optional<PackedWeight> shifted_word(const ExprPtr& bits) {
  const ExprPtr value = same_bits(bits);
  if (is_word(value)) return PackedWeight{value};
  const auto* shift = as_binary(value, BinaryOperator::shift_right);
  const auto by = shift != nullptr ? number_of_literals(shift->right) : std::nullopt;
  auto result = by ? shifted_word(shift->left) : std::nullopt;
  if (!result || *by < 0 || *by % kNibbleBits != 0) return std::nullopt;
  const std::int64_t nibble = result->nibble + *by / kNibbleBits;
  if (nibble >= kNibbles) return std::nullopt;
  result->nibble = static_cast<int>(nibble);
  return result;
}

// (word >> 4 * j) & 15, or (word & 15 << 4 * j) >> 4 * j without a sign.
std::optional<PackedWeight> nibble_of(const ExprPtr& value) {
  if (const auto* mask = as_binary(value, BinaryOperator::bit_and)) {
    for (const auto& [bits, with] :
         {std::pair(mask->left, mask->right), std::pair(mask->right, mask->left)}) {
      if (number_of_literals(with) == kMask) return shifted_word(bits);
    }
    return std::nullopt;
  }
  const auto* shift = as_binary(value, BinaryOperator::shift_right);
  const auto by = shift != nullptr ? number_of_literals(shift->right) : std::nullopt;
  const auto* mask = by ? as_binary(same_bits(shift->left), BinaryOperator::bit_and) : nullptr;
  const bool is_nibble = by && *by >= 0 && *by % kNibbleBits == 0 && *by / kNibbleBits < kNibbles;
  if (mask == nullptr || !is_nibble) return std::nullopt;
  const bool has_sign = same_bits(shift->left)->type != ScalarType::u32;
  for (const auto& [bits, with] :
       {std::pair(mask->left, mask->right), std::pair(mask->right, mask->left)}) {
    const auto number = number_of_literals(with);
    if (!number || (*number & 0xffffffff) != kMask << *by || !is_word(same_bits(bits))) continue;
    if (has_sign && *by / kNibbleBits == kNibbles - 1) return std::nullopt;
    return PackedWeight{same_bits(bits), static_cast<int>(*by / kNibbleBits), 0};
  }
  return std::nullopt;
}

bool is_conversion(const Call& call) {
  static constexpr std::array<std::string_view, 12> kConversions = {
      "__int2float_rn",   "__uint2float_rn",     "__half2float",      "__float2half",
      "__float2half_rn",  "__int2half_rn",       "__uint2half_rn",    "__bfloat162float",
      "__float2bfloat16", "__float2bfloat16_rn", "__int2bfloat16_rn", "__uint2bfloat16_rn"};
  return call.arguments.size() == 1 &&
         std::find(kConversions.begin(), kConversions.end(), call.function) != kConversions.end();
}

bool is_unsigned(const ExprPtr& expr) {
  switch (expr->type.value_or(ScalarType::i32)) {
    case ScalarType::u8:
    case ScalarType::u16:
    case ScalarType::u32:
    case ScalarType::u64:
      return true;
    default:
      return false;
  }
}

std::optional<PackedWeight> weight_of(const ExprPtr& value);

// The operand of the value. A negative number that is taken for one without a sign may become one
// with a sign again, and nothing else.
std::optional<PackedWeight> weight_of_operand(const ExprPtr& operand, const ExprPtr& value) {
  auto weight = weight_of(operand);
  const bool wraps = weight && weight->zero > 0 && is_unsigned(operand);
  const bool unwraps = value->type == ScalarType::i32 && operand->type == ScalarType::u32;
  return !wraps || unwraps ? weight : std::nullopt;
}

std::optional<PackedWeight> weight_of(const ExprPtr& value) {
  if (const auto* cast = as<Cast>(value)) {
    const bool keeps = value->type && *value->type != ScalarType::boolean;
    return keeps ? weight_of_operand(cast->operand, value) : std::nullopt;
  }
  if (const auto* call = as<Call>(value))
    return is_conversion(*call) ? weight_of_operand(call->arguments[0], value) : std::nullopt;
  const auto* difference = as_binary(value, BinaryOperator::subtract);
  const auto* sum = as_binary(value, BinaryOperator::add);
  if (difference == nullptr && sum == nullptr) return nibble_of(value);
  const Binary& operation = difference != nullptr ? *difference : *sum;
  const auto number = number_of(operation.right);
  auto weight = number ? weight_of_operand(operation.left, value) : std::nullopt;
  if (!weight) return std::nullopt;
  weight->zero += difference != nullptr ? *number : -*number;
  return weight->zero >= 0 && weight->zero <= kMask ? weight : std::nullopt;
}

}  // namespace

std::optional<PackedWeight> packed_weight_of(const ExprPtr& value) {
  const auto weight = weight_of(value);
  return weight && (weight->zero == 0 || !is_unsigned(value)) ? weight : std::nullopt;
}

}  // namespace regraph::rewrite
