// Carry chains, 24-bit products, pairs of 16-bit integers, byte-wise differences, three-input
// logic.
#include "ptx/decode/decoder.h"
#include "ptx/decode/rare_function.h"

#include <array>

namespace regraph::ptx {

Record& Decoder::emit_rare(RareFunction function, std::uint32_t d, std::uint32_t a, std::uint32_t b,
                           std::uint32_t c, std::int64_t immediate) {
  Record& record = emit(Operation::rare, LaneType::u32, d, a, b != 0 ? b : a, c != 0 ? c : a,
                        static_cast<std::uint32_t>(function));
  record.immediate = immediate;
  return record;
}

// d, a [, b [, c]] of 32 bits each.
bool Decoder::rare(RareFunction function, std::size_t sources, std::int64_t immediate) {
  if (operand_count() < sources + 1) return malformed("wrong number of operands");
  std::array<std::uint32_t, 3> from = {};
  for (std::size_t i = 0; i < sources; ++i) {
    if (!source(operand(i + 1), DataType::b32, &from[i])) return false;
  }
  std::uint32_t d = 0;
  if (!destination(operand(0), DataType::b32, &d)) return false;
  emit_rare(function, d, from[0], from[1], from[2], immediate);
  return true;
}

// add.cc addc[.cc] sub.cc subc[.cc] mad.{lo,hi}.cc madc.{lo,hi}[.cc]
bool Decoder::decode_carry() {
  const auto type = opcode_.last_type();
  if (!type.has_value() || is_floating(*type) || size_in_bytes(*type) < 4) {
    return malformed("no integer type of 32 or 64 bits");
  }
  classify(InstructionClass::integer);
  const std::string_view name = opcode_.name();
  const bool product = name.starts_with("mad");
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t d = 0;
  if (operand_count() != (product ? 4U : 3U)) return malformed("wrong number of operands");
  if (!source(operand(1), *type, &a) || !source(operand(2), *type, &b)) return false;
  const bool wide = size_in_bytes(*type) == 8;
  if (product) {
    classify(InstructionClass::integer_multiply);
    const std::uint32_t result = temporary(wide).offset;
    emit(opcode_.has("hi") ? Operation::mul_high : Operation::mul, lane_type(*type), result, a, b);
    a = result;
    if (!source(operand(3), *type, &b)) return false;
  }
  if (!destination(operand(0), *type, &d)) return false;
  if (carry_ == 0) carry_ = allocate_predicate();
  Record& record = emit(Operation::carry, wide ? LaneType::u64 : LaneType::u32, d, a, b, carry_);
  const bool takes = name == "addc" || name == "subc" || name == "madc";
  record.flags = (takes ? kCarryIn : 0) | (opcode_.has("cc") ? kCarryOut : 0) |
                 (name.starts_with("sub") ? kBorrow : 0);
  return true;
}

// add, min and max on pairs of 16-bit integers.
bool Decoder::decode_integer_pair(DataType type) {
  classify(InstructionClass::integer);
  const std::string_view name = opcode_.name();
  const bool is_signed = type == DataType::s16x2;
  RareFunction function = RareFunction::add_16x2;
  if (name == "min") function = is_signed ? RareFunction::min_s16x2 : RareFunction::min_u16x2;
  if (name == "max") function = is_signed ? RareFunction::max_s16x2 : RareFunction::max_u16x2;
  if (name != "add" && name != "min" && name != "max") return unsupported("pairs of integers");
  if (!rare(function, 2, 0)) return false;
  if (!opcode_.has("relu")) return true;
  const std::uint32_t d = register_slot(operand(0).index).offset;
  emit_rare(RareFunction::relu_s16x2, d, d);
  return true;
}

// mul24, mad24, dp2a, lop3, fns, vabsdiff2, vabsdiff4; `known` says whether it was one of them.
bool Decoder::decode_rare(bool* known) {
  const std::string_view name = opcode_.name();
  *known = true;
  if (name == "lop3") {
    classify(InstructionClass::logic);
    const Operand& table = operand(4);
    if (operand_count() != 5 || table.kind != Operand::Kind::integer ||
        opcode_.modifier_count() != 1) {
      return unsupported("this form of lop3");
    }
    return rare(RareFunction::logic3, 3, static_cast<std::int64_t>(table.bits & 0xffU));
  }
  if (name == "fns") {
    classify(InstructionClass::logic);
    return rare(RareFunction::find_nth_set, 3, 0);
  }
  if (name == "dp2a") {
    classify(InstructionClass::integer_multiply);
    return rare(RareFunction::dot_product_2, 3,
                (opcode_.type(0) == DataType::s32 ? 1 : 0) |
                    (opcode_.type(1) == DataType::s32 ? 2 : 0) | (opcode_.has("hi") ? 4 : 0));
  }
  if (name == "vabsdiff2" || name == "vabsdiff4") {
    classify(InstructionClass::integer);
    if (operand_count() != 4 || opcode_.type_count() != 3 || opcode_.type(1) != opcode_.type(2) ||
        opcode_.has("sat") || operand(0).kind != Operand::Kind::reg) {
      return unsupported("this form of a video instruction");
    }
    const std::int64_t fields = name == "vabsdiff2" ? 2 : 4;
    return rare(RareFunction::absolute_difference, 3,
                fields | (opcode_.type(1) == DataType::s32 ? kFieldsSigned : 0) |
                    (opcode_.has("add") ? kFieldsSum : 0));
  }
  if (name == "mul24" || name == "mad24") {
    classify(InstructionClass::integer_multiply);
    const bool is_signed = opcode_.last_type() == DataType::s32;
    const bool high = opcode_.has("hi");
    const RareFunction function =
        high ? (is_signed ? RareFunction::multiply_24_high_s : RareFunction::multiply_24_high_u)
             : (is_signed ? RareFunction::multiply_24_low_s : RareFunction::multiply_24_low_u);
    if (name == "mul24") return rare(function, 2, 0);
    std::array<std::uint32_t, 3> from = {};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!source(operand(i + 1), DataType::b32, &from[i])) return false;
    }
    std::uint32_t d = 0;
    if (!destination(operand(0), DataType::b32, &d)) return false;
    const std::uint32_t product = temporary(false).offset;
    emit_rare(function, product, from[0], from[1]);
    if (opcode_.has("sat")) {
      emit_rare(RareFunction::add_saturate, d, product, from[2]);
    } else {
      emit(Operation::add, LaneType::u32, d, product, from[2]);
    }
    return true;
  }
  *known = false;
  return true;
}

}  // namespace regraph::ptx
