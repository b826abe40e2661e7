#include "ptx/decode/decoder.h"

#include <tuple>

namespace regraph::ptx {
namespace {

Operation conversion_from(DataType type, bool saturate) {
  switch (type) {
    case DataType::s32:
      return saturate ? Operation::from_s32_saturate : Operation::from_s32;
    case DataType::u64:
      return saturate ? Operation::from_u64_saturate : Operation::from_u64;
    case DataType::s64:
      return saturate ? Operation::from_s64_saturate : Operation::from_s64;
    case DataType::f16:
      return Operation::from_f16;
    case DataType::bf16:
      return Operation::from_bf16;
    case DataType::f32:
      return Operation::from_f32;
    case DataType::f64:
      return Operation::from_f64;
    default:
      return saturate ? Operation::from_u32_saturate : Operation::from_u32;
  }
}

LaneType plain_lane(DataType type) {
  switch (type) {
    case DataType::u16:
      return LaneType::u16;
    case DataType::s16:
      return LaneType::s16;
    case DataType::s32:
      return LaneType::s32;
    case DataType::u64:
      return LaneType::u64;
    case DataType::s64:
      return LaneType::s64;
    case DataType::f16:
      return LaneType::f16;
    case DataType::bf16:
      return LaneType::bf16;
    case DataType::f32:
      return LaneType::f32;
    case DataType::f64:
      return LaneType::f64;
    default:
      return LaneType::u32;
  }
}

Operation integral_rounding(RoundingMode mode) {
  switch (mode) {
    case RoundingMode::zero:
      return Operation::round_zero;
    case RoundingMode::down:
      return Operation::round_down;
    case RoundingMode::up:
      return Operation::round_up;
    default:
      return Operation::round_nearest;
  }
}

}  // namespace

// Emits the conversion of slot `a` of type `from` into slot `d`, whose width is that of `to`.
bool Decoder::convert(DataType to, DataType from, std::uint32_t a, std::uint32_t d) {
  // Bring 8- and 16-bit integers to 32 bits first.
  const auto widen = [&](Operation operation, DataType widened) {
    const std::uint32_t extended = temporary(false).offset;
    emit(operation, LaneType::u32, extended, a);
    a = extended;
    from = widened;
  };
  if (from == DataType::u8) widen(Operation::zero_extend_8, DataType::u32);
  if (from == DataType::s8) widen(Operation::sign_extend_8, DataType::s32);
  if (from == DataType::u16) widen(Operation::zero_extend_16, DataType::u32);
  if (from == DataType::s16) widen(Operation::sign_extend_16, DataType::s32);
  const bool flushes = opcode_.has("ftz");
  if (from == DataType::f32 && flushes) {
    const std::uint32_t flushed = temporary(false).offset;
    emit(Operation::flush, LaneType::f32_flush, flushed, a);
    a = flushed;
  }
  const RoundingMode mode = opcode_.rounding();
  const bool to_integer = !is_floating(to);
  const bool from_integer = !is_floating(from);
  if (to_integer && size_in_bytes(to) == 1) {
    const bool clamps = !from_integer || opcode_.has("sat");
    const bool is_signed = to == DataType::s8;
    emit(conversion_from(from, clamps && from_integer), clamps ? LaneType::s32 : LaneType::u32, d,
         a, 0, 0, static_cast<std::uint32_t>(mode));
    if (clamps) {
      const auto low = static_cast<std::uint64_t>(is_signed ? -128 : 0);
      emit(Operation::max, LaneType::s32, d, d, constant(low, false));
      emit(Operation::min, LaneType::s32, d, d, constant(is_signed ? 127 : 255, false));
    }
    emit(is_signed ? Operation::sign_extend_8 : Operation::zero_extend_8, LaneType::u32, d, d);
    return true;
  }
  if (!to_integer && to == from && opcode_.rounds_to_integer()) {
    emit(integral_rounding(mode), lane_type(to), d, a);
  } else {
    emit(conversion_from(from, to_integer && from_integer && opcode_.has("sat")), plain_lane(to), d,
         a, 0, 0, static_cast<std::uint32_t>(mode));
  }
  if (to_integer) return true;
  if (to == DataType::f32 && flushes) emit(Operation::flush, LaneType::f32_flush, d, d);
  if (opcode_.has("satfinite")) return unsupported("saturation to finite values");
  return finish_saturation(to, d);
}

// cvt.rn.f16x2.f32 d, a, b: a in the upper half.
bool Decoder::decode_conversion_pair(DataType to, DataType from) {
  if (from != DataType::f32 || operand_count() != 3) return unsupported("this packed conversion");
  const DataType half = to == DataType::f16x2 ? DataType::f16 : DataType::bf16;
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), from, &high) || !source(operand(2), from, &low) ||
      !destination(operand(0), to, &d)) {
    return false;
  }
  const std::uint32_t high_half = temporary(false).offset;
  const std::uint32_t low_half = temporary(false).offset;
  if (!convert(half, from, high, high_half) || !convert(half, from, low, low_half)) return false;
  emit(Operation::pack_2x16, LaneType::u32, d, low_half, high_half);
  return true;
}

// tf32 and the 8-bit floats, which no other instruction computes with.
bool Decoder::decode_small_float(bool* known) {
  *known = true;
  const bool to_pair = opcode_.modifier_count() > 0 && opcode_.last_type() == DataType::f32;
  for (const auto& [name, to, from] :
       {std::tuple{"e4m3x2", RareFunction::to_e4m3x2, RareFunction::from_e4m3x2},
        std::tuple{"e5m2x2", RareFunction::to_e5m2x2, RareFunction::from_e5m2x2}}) {
    if (!opcode_.has(name)) continue;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t d = 0;
    if (to_pair) {
      if (!opcode_.has("satfinite") || opcode_.has("relu") || operand_count() != 3) {
        return unsupported("this conversion to 8-bit floats");
      }
      if (!source(operand(1), DataType::f32, &a) || !source(operand(2), DataType::f32, &b) ||
          !destination(operand(0), DataType::b16, &d)) {
        return false;
      }
      emit_rare(to, d, a, b);
      return true;
    }
    if (opcode_.type_count() != 1 || opcode_.type(0) != DataType::f16x2 || opcode_.has("relu") ||
        opcode_.modifier(opcode_.modifier_count() - 1) != name || operand_count() != 2) {
      return unsupported("this conversion of 8-bit floats");
    }
    if (!source(operand(1), DataType::b16, &a) || !destination(operand(0), DataType::b32, &d)) {
      return false;
    }
    emit_rare(from, d, a);
    return true;
  }
  if (opcode_.has("tf32")) {
    if (!to_pair || opcode_.has("satfinite") || opcode_.has("relu")) {
      return unsupported("this conversion to tf32");
    }
    return rare(RareFunction::to_tf32, 1,
                opcode_.has("rna") ? kTiesAway : static_cast<std::int64_t>(opcode_.rounding()));
  }
  *known = false;
  return true;
}

bool Decoder::decode_conversion() {
  classify(InstructionClass::conversion);
  bool known = false;
  if (!decode_small_float(&known)) return false;
  if (known) return true;
  if (opcode_.name() == "cvt" && opcode_.has("pack")) return unsupported("packing conversion");
  if (opcode_.type_count() != 2) return unsupported("conversion between these types");
  const DataType to = *opcode_.type(0);
  const DataType from = *opcode_.type(1);
  if (opcode_.has("rna") || opcode_.has("rs")) return unsupported("this rounding");
  if (to == DataType::f16x2 || to == DataType::bf16x2) return decode_conversion_pair(to, from);
  if (from == DataType::f16x2 || from == DataType::bf16x2) return unsupported("these types");
  // Registers may be wider than the types: the upper bits are ignored or extended.
  const DataType source_type = size_in_bytes(from) == 8 ? from : DataType::u32;
  std::uint32_t a = 0;
  if (!source(operand(1), source_type, &a)) return false;
  const auto held = register_type(operand(0));
  if (!held.has_value() || *held == DataType::predicate)
    return malformed("no destination register");
  const Slot target = register_slot(operand(0).index);
  const bool wide_type = size_in_bytes(to) == 8;
  if (target.wide == wide_type) return convert(to, from, a, target.offset);
  if (wide_type) return malformed("the destination register is too narrow");
  const std::uint32_t narrow = temporary(false).offset;
  if (!convert(to, from, a, narrow)) return false;
  emit(is_signed_integer(to) ? Operation::from_s32 : Operation::from_u32, LaneType::u64,
       target.offset, narrow);
  return true;
}

}  // namespace regraph::ptx
