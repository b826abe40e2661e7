#include "ptx/decode/decoder.h"

#include <fmt/format.h>

#include <array>

namespace regraph::ptx {
namespace {

InstructionClass class_of(DataType type, InstructionClass integer) {
  switch (type) {
    case DataType::f64:
      return InstructionClass::fp64;
    case DataType::f32:
      return InstructionClass::fp32_other;
    case DataType::f16:
    case DataType::bf16:
    case DataType::f16x2:
    case DataType::bf16x2:
      return InstructionClass::fp16;
    default:
      return integer;
  }
}

bool name_is_extreme(std::string_view name) {
  return name == "min" || name == "max";
}

Operation with_rounding(Operation operation) {
  switch (operation) {
    case Operation::add:
      return Operation::add_rounded;
    case Operation::mul:
      return Operation::mul_rounded;
    case Operation::div:
      return Operation::div_rounded;
    case Operation::square_root:
      return Operation::square_root_rounded;
    default:
      return Operation::fused_multiply_add_rounded;
  }
}

}  // namespace

// d, a [, b [, c]] of one type; honours .rz .rm .rp, .sat and, for halves, .ftz.
bool Decoder::arithmetic(Operation operation, DataType type, int sources) {
  if (type == DataType::f32x2) {
    return decode_single_pair(operation, static_cast<std::size_t>(sources));
  }
  if (type == DataType::u16x2 || type == DataType::s16x2) return decode_integer_pair(type);
  // fma.rn.f32.f16: the factors, or the first summand, are of the second type.
  if (opcode_.type_count() == 2 && opcode_.type(0) == DataType::f32) {
    return decode_mixed(operation, type, static_cast<std::size_t>(sources));
  }
  if (operand_count() != static_cast<std::size_t>(sources) + 1) {
    return malformed("wrong number of operands");
  }
  std::array<std::uint32_t, 3> from = {};
  for (int i = 0; i < sources; ++i) {
    if (!source(operand(static_cast<std::size_t>(i) + 1), type,
                &from[static_cast<std::size_t>(i)])) {
      return false;
    }
  }
  std::uint32_t d = 0;
  if (!destination(operand(0), type, &d)) return false;
  const bool flushes_half =
      opcode_.has("ftz") && (type == DataType::f16 || type == DataType::f16x2);
  for (std::size_t i = 0; flushes_half && i < static_cast<std::size_t>(sources); ++i) {
    const std::uint32_t flushed = temporary(false).offset;
    emit(Operation::flush, lane_type(type), flushed, from[i]);
    from[i] = flushed;
  }
  const RoundingMode mode = opcode_.rounding();
  if (mode != RoundingMode::nearest) {
    if (type != DataType::f32 && type != DataType::f64) return unsupported("this rounding mode");
    // The rounded handlers read three operands.
    for (int i = sources; i < 3; ++i)
      from[static_cast<std::size_t>(i)] = from[0];
    operation = with_rounding(operation);
  }
  emit(operation, lane_type(type), d, from[0], from[1], from[2], static_cast<std::uint32_t>(mode));
  if (flushes_half) emit(Operation::flush, lane_type(type), d, d);
  return finish_saturation(type, d);
}

bool Decoder::finish_saturation(DataType type, std::uint32_t d) {
  if (opcode_.has("relu")) {
    if (is_floating(type)) {
      emit(Operation::relu, lane_type(type), d, d);
    } else {
      emit(Operation::max, lane_type(type), d, d, constant(0, size_in_bytes(type) == 8));
    }
  }
  if (!opcode_.has("sat")) return true;
  if (!is_floating(type)) return unsupported("saturation of this type");
  emit(Operation::saturate, lane_type(type), d, d);
  return true;
}

bool Decoder::decode_multiply() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  const bool accumulate = opcode_.name() == "mad";
  if (is_floating(*type) || *type == DataType::f32x2) {
    if (accumulate) return decode_fused();
    classify(class_of(*type, InstructionClass::fp32_other));
    return arithmetic(Operation::mul, *type, 2);
  }
  classify(InstructionClass::integer_multiply);
  if (!opcode_.has("wide")) {
    if (opcode_.has("sat")) {
      if (!accumulate || *type != DataType::s32) return unsupported("saturation of this type");
      return rare(RareFunction::multiply_add_high_saturate, 3, 0);
    }
    const bool high = opcode_.has("hi");
    if (accumulate) {
      return arithmetic(high ? Operation::multiply_add_high : Operation::multiply_add, *type, 3);
    }
    return arithmetic(high ? Operation::mul_high : Operation::mul, *type, 2);
  }
  const bool from_16 = size_in_bytes(*type) == 2;
  const DataType wide = from_16 ? DataType::u32 : DataType::u64;
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  if (!source(operand(1), *type, &a) || !source(operand(2), *type, &b)) return false;
  if (accumulate && !source(operand(3), wide, &c)) return false;
  if (!destination(operand(0), wide, &d)) return false;
  emit(accumulate ? Operation::multiply_add_wide : Operation::mul_wide, lane_type(*type), d, a, b,
       c);
  return true;
}

bool Decoder::decode_fused() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  classify(*type == DataType::f32 ? InstructionClass::fp32_fma
                                  : class_of(*type, InstructionClass::fp32_fma));
  return arithmetic(Operation::fused_multiply_add, *type, 3);
}

bool Decoder::decode_divide() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  classify(InstructionClass::divide);
  if (opcode_.has("approx")) return arithmetic(Operation::div_approximate, *type, 2);
  return arithmetic(opcode_.name() == "rem" ? Operation::rem : Operation::div, *type, 2);
}

bool Decoder::decode_special_function() {
  struct Entry {
    std::string_view name;
    Operation operation;
  };
  static constexpr std::array<Entry, 8> kFunctions = {{
      {"sqrt", Operation::square_root},
      {"rsqrt", Operation::reciprocal_square_root},
      {"rcp", Operation::reciprocal},
      {"sin", Operation::sine},
      {"cos", Operation::cosine},
      {"ex2", Operation::exp2},
      {"lg2", Operation::log2},
      {"tanh", Operation::tanh},
  }};
  const auto type = opcode_.last_type();
  if (!type.has_value() || !is_floating(*type)) return malformed("no floating type");
  classify(InstructionClass::special_function);
  const bool exact = !opcode_.has("approx");
  if (exact && (opcode_.name() == "sqrt" || opcode_.name() == "rcp")) {
    classify(InstructionClass::divide);  // machine code expands them as it does divisions
  }
  for (const Entry& entry : kFunctions) {
    if (entry.name != opcode_.name()) continue;
    if (entry.operation == Operation::reciprocal && opcode_.rounding() != RoundingMode::nearest) {
      std::uint32_t d = 0;
      std::uint32_t a = 0;
      if (!source(operand(1), *type, &a) || !destination(operand(0), *type, &d)) return false;
      const std::uint32_t one = *type == DataType::f64 ? constant(0x3ff0000000000000ULL, true)
                                                       : constant(0x3f800000U, false);
      emit(Operation::div_rounded, lane_type(*type), d, one, a, a,
           static_cast<std::uint32_t>(opcode_.rounding()));
      return true;
    }
    return arithmetic(entry.operation, *type, 1);
  }
  return unsupported("this function");
}

bool Decoder::decode_shift() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  classify(InstructionClass::logic);
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  if (!source(operand(1), *type, &a) || !source(operand(2), DataType::u32, &b) ||
      !destination(operand(0), *type, &d)) {
    return false;
  }
  emit(opcode_.name() == "shl" ? Operation::shift_left : Operation::shift_right, lane_type(*type),
       d, a, b);
  return true;
}

bool Decoder::decode_logic() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  const std::string_view name = opcode_.name();
  classify(InstructionClass::logic);
  if (*type != DataType::predicate) {
    if (name == "not") return arithmetic(Operation::bit_not, *type, 1);
    return arithmetic(name == "and"  ? Operation::bit_and
                      : name == "or" ? Operation::bit_or
                                     : Operation::bit_xor,
                      *type, 2);
  }
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  if (!predicate_source(operand(1), &a)) return false;
  if (name != "not" && !predicate_source(operand(2), &b)) return false;
  if (!predicate_destination(operand(0), &d)) return false;
  emit(name == "not"   ? Operation::predicate_not
       : name == "and" ? Operation::predicate_and
       : name == "or"  ? Operation::predicate_or
                       : Operation::predicate_xor,
       LaneType::u32, d, a, b);
  return true;
}

// Operations with sources of fixed 32-bit types beside the instruction's own type.
bool Decoder::decode_bits() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  const std::string_view name = opcode_.name();
  classify(InstructionClass::logic);
  const bool counts = name == "popc" || name == "clz" || name == "bfind";
  const bool any_u32 = name == "prmt" || name == "shf" || name == "dp4a";
  const DataType first = any_u32 ? DataType::u32 : *type;
  std::uint32_t d = 0;
  std::array<std::uint32_t, 4> from = {};
  for (std::size_t i = 0; i + 1 < operand_count() && i < from.size(); ++i) {
    const bool own = i == 0 || (i == 1 && name == "bfi");
    if (!source(operand(i + 1), own ? first : DataType::u32, &from[i])) return false;
  }
  if (!destination(operand(0), counts || any_u32 ? DataType::u32 : *type, &d)) return false;
  Operation operation = Operation::nothing;
  LaneType lanes = lane_type(*type);
  if (name == "popc") operation = Operation::popcount;
  if (name == "clz") operation = Operation::leading_zeros;
  if (name == "brev") operation = Operation::bit_reverse;
  if (name == "bfe") operation = Operation::bit_field_extract;
  if (name == "bfi") operation = Operation::bit_field_insert;
  if (name == "bmsk") operation = Operation::bit_field_mask;
  if (name == "bfind") {
    operation = opcode_.has("shiftamt") ? Operation::find_leading_shift : Operation::find_leading;
  }
  if (name == "prmt") {
    if (opcode_.modifier_count() != 1) {
      static constexpr std::array<std::string_view, 6> kModes = {"f4e", "b4e", "rc8",
                                                                 "ecl", "ecr", "rc16"};
      for (std::size_t i = 0; i < kModes.size(); ++i) {
        if (!opcode_.has(kModes[i])) continue;
        emit_rare(RareFunction::permute_mode, d, from[0], from[1], from[2],
                  static_cast<std::int64_t>(i));
        return true;
      }
      return unsupported("this mode of prmt");
    }
    operation = Operation::permute;
    lanes = LaneType::u32;
  }
  if (name == "shf") {
    lanes = LaneType::u32;
    const bool wrap = opcode_.has("wrap");
    operation = opcode_.has("l")
                    ? (wrap ? Operation::funnel_left_wrap : Operation::funnel_left_clamp)
                    : (wrap ? Operation::funnel_right_wrap : Operation::funnel_right_clamp);
  }
  if (name == "dp4a") {
    classify(InstructionClass::integer_multiply);
    lanes = LaneType::u32;
    const bool a_signed = opcode_.type(0) == DataType::s32;
    const bool b_signed = opcode_.type(1) == DataType::s32;
    operation = a_signed ? (b_signed ? Operation::dot_product_4_ss : Operation::dot_product_4_su)
                         : (b_signed ? Operation::dot_product_4_us : Operation::dot_product_4_uu);
  }
  if (operation == Operation::nothing) return unsupported("this operation");
  emit(operation, lanes, d, from[0], from[1], from[2], from[3]);
  return true;
}

// Instructions whose operands all have the instruction's type.
bool Decoder::decode_by_table(bool* known) {
  struct Entry {
    std::string_view name;
    Operation operation;
    int sources;
  };
  static constexpr std::array<Entry, 9> kSimple = {{
      {"add", Operation::add, 2},
      {"sub", Operation::sub, 2},
      {"min", Operation::min, 2},
      {"max", Operation::max, 2},
      {"neg", Operation::neg, 1},
      {"abs", Operation::abs, 1},
      {"cnot", Operation::logical_not, 1},
      {"copysign", Operation::copysign, 2},
      {"sad", Operation::sad, 3},
  }};
  *known = false;
  for (const Entry& entry : kSimple) {
    if (entry.name != opcode_.name()) continue;
    *known = true;
    const auto type = opcode_.last_type();
    if (!type.has_value()) return malformed("no type");
    if (opcode_.has("cc")) return decode_carry();
    classify(class_of(*type, InstructionClass::integer));
    if (opcode_.has("sat") && *type == DataType::s32) {
      return rare(entry.operation == Operation::add ? RareFunction::add_saturate
                                                    : RareFunction::subtract_saturate,
                  2, 0);
    }
    Operation operation = entry.operation;
    if (opcode_.has("NaN")) {
      operation = operation == Operation::min ? Operation::min_nan : Operation::max_nan;
    }
    if (opcode_.has("xorsign")) return decode_xorsign(operation);
    if (operand_count() == 4 && entry.sources == 2 && (name_is_extreme(entry.name))) {
      // The extreme of three.
      std::array<std::uint32_t, 3> from = {};
      for (std::size_t i = 0; i < 3; ++i) {
        if (!source(operand(i + 1), *type, &from[i])) return false;
      }
      std::uint32_t d = 0;
      if (!destination(operand(0), *type, &d)) return false;
      const std::uint32_t of_two = temporary(size_in_bytes(*type) == 8).offset;
      emit(operation, lane_type(*type), of_two, from[0], from[1]);
      emit(operation, lane_type(*type), d, of_two, from[2]);
      return finish_saturation(*type, d);
    }
    if (operation == Operation::sub && opcode_.rounding() != RoundingMode::nearest) {
      // a - b = a + (-b), exactly.
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      std::uint32_t d = 0;
      if (!source(operand(1), *type, &a) || !source(operand(2), *type, &b) ||
          !destination(operand(0), *type, &d)) {
        return false;
      }
      const std::uint32_t negated = temporary(*type == DataType::f64).offset;
      emit(Operation::neg, lane_type(*type), negated, b);
      emit(Operation::add_rounded, lane_type(*type), d, a, negated, a,
           static_cast<std::uint32_t>(opcode_.rounding()));
      return finish_saturation(*type, d);
    }
    return arithmetic(operation, *type, entry.sources);
  }
  return true;
}

bool Decoder::decode_arithmetic() {
  const std::string_view name = opcode_.name();
  bool known = false;
  if (!decode_by_table(&known)) return false;
  if (known) return true;
  if (name == "mul" || name == "mad") {
    return opcode_.has("cc") ? decode_carry() : decode_multiply();
  }
  if (name == "fma") return decode_fused();
  if (name == "div" || name == "rem") return decode_divide();
  if (name == "shl" || name == "shr") return decode_shift();
  if (name == "and" || name == "or" || name == "xor" || name == "not") return decode_logic();
  if (name == "popc" || name == "clz" || name == "brev" || name == "bfe" || name == "bfi" ||
      name == "bfind" || name == "prmt" || name == "shf" || name == "dp4a" || name == "bmsk") {
    return decode_bits();
  }
  return decode_special_function();
}

}  // namespace regraph::ptx
