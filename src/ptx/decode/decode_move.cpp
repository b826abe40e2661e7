#include "ptx/decode/decoder.h"
#include "ptx/decode/execution.h"

#include <fmt/format.h>

#include <array>

namespace regraph::ptx {
namespace {

std::optional<std::uint64_t> window_of(std::string_view space) {
  if (space == "shared" || space == "shared::cta") return kSharedWindow;
  if (space == "local") return kLocalWindow;
  if (space == "const") return kConstantWindow;
  if (space == "param" || space == "param::entry") return kParameterWindow;
  if (space == "global") return 0;
  return std::nullopt;
}

}  // namespace

bool Decoder::decode_move() {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  if (*type == DataType::b128) return unsupported("128-bit values");
  classify(InstructionClass::move);
  const Operand& to = operand(0);
  const Operand& from = operand(1);
  const bool wide = size_in_bytes(*type) == 8;
  const DataType half = wide ? DataType::b32 : DataType::b16;
  if (*type == DataType::predicate) {
    std::uint32_t a = 0;
    std::uint32_t d = 0;
    if (!predicate_source(from, &a) || !predicate_destination(to, &d)) return false;
    emit(Operation::predicate_move, LaneType::u32, d, a);
    return true;
  }
  if (from.kind == Operand::Kind::list) {  // pack, least significant first
    std::array<std::uint32_t, 4> parts = {};
    const DataType part = from.count == 4 ? DataType::b16 : half;
    if ((from.count != 2 && !(from.count == 4 && wide)) || size_in_bytes(*type) < 4) {
      return unsupported("packing of this shape");
    }
    for (std::size_t i = 0; i < from.count; ++i) {
      Operand element;
      if (!list_element(from, i, &element) || !source(element, part, &parts[i])) return false;
    }
    std::uint32_t d = 0;
    if (!destination(to, *type, &d)) return false;
    if (from.count == 4) {
      const std::uint32_t low = temporary(false).offset;
      const std::uint32_t high = temporary(false).offset;
      emit(Operation::pack_2x16, LaneType::u32, low, parts[0], parts[1]);
      emit(Operation::pack_2x16, LaneType::u32, high, parts[2], parts[3]);
      parts[0] = low;
      parts[1] = high;
    }
    emit(wide ? Operation::pack_2x32 : Operation::pack_2x16, LaneType::u32, d, parts[0], parts[1]);
    return true;
  }
  if (to.kind == Operand::Kind::list) {  // unpack
    std::array<std::uint32_t, 4> parts = {};
    const DataType part = to.count == 4 ? DataType::b16 : half;
    if ((to.count != 2 && !(to.count == 4 && wide)) || size_in_bytes(*type) < 4) {
      return unsupported("unpacking of this shape");
    }
    std::uint32_t a = 0;
    if (!source(from, *type, &a)) return false;
    for (std::size_t i = 0; i < to.count; ++i) {
      Operand element;
      if (!list_element(to, i, &element) || !destination(element, part, &parts[i])) return false;
    }
    if (to.count == 4) {
      const std::uint32_t low = temporary(false).offset;
      const std::uint32_t high = temporary(false).offset;
      emit(Operation::unpack_2x32, LaneType::u32, low, a, high);
      emit(Operation::unpack_2x16, LaneType::u32, parts[0], low, parts[1]);
      emit(Operation::unpack_2x16, LaneType::u32, parts[2], high, parts[3]);
    } else {
      emit(wide ? Operation::unpack_2x32 : Operation::unpack_2x16, LaneType::u32, parts[0], a,
           parts[1]);
    }
    return true;
  }
  std::uint32_t a = 0;
  std::uint32_t d = 0;
  if (!source(from, *type, &a) || !destination(to, *type, &d)) return false;
  if (size_in_bytes(*type) == 2) {
    emit(Operation::zero_extend_16, LaneType::u32, d, a);
  } else {
    emit(Operation::move, wide ? LaneType::u64 : LaneType::u32, d, a);
  }
  return true;
}

// cvta.space: to a generic address; cvta.to.space: back.
bool Decoder::decode_address_conversion() {
  classify(InstructionClass::move);
  const bool back = opcode_.modifier(0) == "to";
  const auto window = window_of(opcode_.modifier(back ? 1 : 0));
  if (!window.has_value()) return unsupported("this address space");
  if (opcode_.last_type() != DataType::u64) return unsupported("32-bit addresses");
  std::uint32_t a = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), DataType::u64, &a) || !destination(operand(0), DataType::u64, &d)) {
    return false;
  }
  if (*window == 0) {
    emit(Operation::move, LaneType::u64, d, a);
  } else if (back) {
    emit(Operation::bit_and, LaneType::u64, d, a, constant(~kWindowMask, true));
  } else {
    emit(Operation::bit_or, LaneType::u64, d, a, constant(*window, true));
  }
  return true;
}

// isspacep.space p, a
bool Decoder::decode_space_test() {
  classify(InstructionClass::integer);
  const auto window = window_of(opcode_.modifier(0));
  if (!window.has_value()) return unsupported("this address space");
  std::uint32_t a = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), DataType::u64, &a) || !predicate_destination(operand(0), &d))
    return false;
  const std::uint32_t masked = temporary(true).offset;
  emit(Operation::bit_and, LaneType::u64, masked, a, constant(kWindowMask, true));
  emit(Operation::equal, LaneType::u64, d, masked, constant(*window, true));
  return true;
}

}  // namespace regraph::ptx
