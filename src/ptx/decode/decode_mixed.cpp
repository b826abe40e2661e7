// Arithmetic that takes several operations: pairs of f32, mixed precision, signs apart from
// magnitudes.
#include "ptx/decode/decoder.h"

#include <array>

namespace regraph::ptx {

// Two f32 in one 64-bit register: each half alone.
bool Decoder::decode_single_pair(Operation operation, std::size_t sources) {
  classify(sources == 3 ? InstructionClass::fp32_fma : InstructionClass::fp32_other);
  if (opcode_.rounding() != RoundingMode::nearest) return unsupported("this rounding mode");
  std::array<std::uint32_t, 3> low = {};
  std::array<std::uint32_t, 3> high = {};
  for (std::size_t i = 0; i < sources; ++i) {
    std::uint32_t both = 0;
    if (!source(operand(i + 1), DataType::b64, &both)) return false;
    low[i] = temporary(false).offset;
    high[i] = temporary(false).offset;
    emit(Operation::unpack_2x32, LaneType::u32, low[i], both, high[i]);
  }
  std::uint32_t d = 0;
  if (!destination(operand(0), DataType::b64, &d)) return false;
  const LaneType lane = lane_type(DataType::f32);
  emit(operation, lane, low[0], low[0], low[1], low[2]);
  emit(operation, lane, high[0], high[0], high[1], high[2]);
  emit(Operation::pack_2x32, LaneType::u32, d, low[0], high[0]);
  return true;
}

// fma.f32.f16 d, a, b, c and add.f32.f16 d, a, c: c is an f32, the others are converted, exactly.
bool Decoder::decode_mixed(Operation operation, DataType type, std::size_t sources) {
  if (type != DataType::f16 && type != DataType::bf16) return unsupported("these types");
  if (opcode_.rounding() != RoundingMode::nearest) return unsupported("this rounding mode");
  std::array<std::uint32_t, 3> from = {};
  for (std::size_t i = 0; i < sources; ++i) {
    const bool last = i + 1 == sources;
    if (!source(operand(i + 1), last ? DataType::f32 : type, &from[i])) return false;
    if (last) continue;
    const std::uint32_t wider = temporary(false).offset;
    emit(type == DataType::f16 ? Operation::from_f16 : Operation::from_bf16, LaneType::f32, wider,
         from[i]);
    from[i] = wider;
  }
  std::uint32_t d = 0;
  if (!destination(operand(0), DataType::f32, &d)) return false;
  emit(operation, lane_type(DataType::f32), d, from[0], from[1], from[2]);
  return finish_saturation(DataType::f32, d);
}

// min.xorsign.abs: the magnitude of one, the product of the signs.
bool Decoder::decode_xorsign(Operation operation) {
  if (opcode_.last_type() != DataType::f32) return unsupported("the xorsign modifier on this type");
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), DataType::f32, &a) || !source(operand(2), DataType::f32, &b) ||
      !destination(operand(0), DataType::f32, &d)) {
    return false;
  }
  const LaneType lane = lane_type(DataType::f32);
  const std::uint32_t x = temporary(false).offset;
  const std::uint32_t y = temporary(false).offset;
  emit(Operation::abs, lane, x, a);
  emit(Operation::abs, lane, y, b);
  emit(operation, lane, x, x, y);
  emit_rare(RareFunction::copy_xor_sign, d, x, a, b);
  return true;
}

}  // namespace regraph::ptx
