#include "ptx/decode/decoder.h"

#include <fmt/format.h>

#include <array>

namespace regraph::ptx {
namespace {

std::optional<Operation> comparison(std::string_view name) {
  struct Entry {
    std::string_view name;
    Operation operation;
  };
  static constexpr std::array<Entry, 18> kComparisons = {{
      {"eq", Operation::equal},
      {"ne", Operation::not_equal},
      {"lt", Operation::less},
      {"le", Operation::less_equal},
      {"gt", Operation::greater},
      {"ge", Operation::greater_equal},
      {"lo", Operation::less},
      {"ls", Operation::less_equal},
      {"hi", Operation::greater},
      {"hs", Operation::greater_equal},
      {"equ", Operation::equal_unordered},
      {"neu", Operation::not_equal_unordered},
      {"ltu", Operation::less_unordered},
      {"leu", Operation::less_equal_unordered},
      {"gtu", Operation::greater_unordered},
      {"geu", Operation::greater_equal_unordered},
      {"num", Operation::ordered},
      {"nan", Operation::unordered},
  }};
  for (const Entry& entry : kComparisons) {
    if (entry.name == name) return entry.operation;
  }
  return std::nullopt;
}

std::optional<Operation> combination(std::string_view name) {
  if (name == "and") return Operation::predicate_and;
  if (name == "or") return Operation::predicate_or;
  if (name == "xor") return Operation::predicate_xor;
  return std::nullopt;
}

}  // namespace

// setp.lt[.and].type p[|q], a, b [, c]
bool Decoder::decode_compare() {
  const auto type = opcode_.last_type();
  const auto operation = comparison(opcode_.modifier(0));
  if (!type.has_value() || !operation.has_value()) return malformed("no comparison or no type");
  classify(*type == DataType::f64   ? InstructionClass::fp64
           : *type == DataType::f32 ? InstructionClass::fp32_other
           : is_floating(*type)     ? InstructionClass::fp16
                                    : InstructionClass::integer);
  const auto combine = combination(opcode_.modifier(1));
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), *type, &a) || !source(operand(2), *type, &b)) return false;
  if (combine.has_value() && !predicate_source(operand(3), &c)) return false;
  if (!predicate_destination(operand(0), &d)) return false;
  const std::int32_t second = operand(0).second;
  if (*type == DataType::f16x2 || *type == DataType::bf16x2) {  // p: the lower halves, q: the upper
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    if (!compare_halves(*operation, *type, &low, &high)) return false;
    std::uint32_t q = 0;
    if (second >= 0) {
      if (code_.function->registers[static_cast<std::size_t>(second)] != DataType::predicate) {
        return malformed("expected a predicate after '|'");
      }
      q = register_slot(static_cast<std::uint32_t>(second)).offset;
    }
    if (combine.has_value()) emit(*combine, LaneType::u32, low, low, c);
    if (combine.has_value()) emit(*combine, LaneType::u32, high, high, c);
    emit(Operation::predicate_move, LaneType::u32, d, low);
    if (q != 0) emit(Operation::predicate_move, LaneType::u32, q, high);
    return true;
  }
  if (!combine.has_value() && second == -1) {
    emit(*operation, lane_type(*type), d, a, b);
    return true;
  }
  // p = (a op b) bool c; q = !(a op b) bool c.
  const std::uint32_t result = allocate_predicate();
  emit(*operation, lane_type(*type), result, a, b);
  std::uint32_t q = 0;
  const std::uint32_t inverse = allocate_predicate();
  if (second >= 0) {
    if (code_.function->registers[static_cast<std::size_t>(second)] != DataType::predicate) {
      return malformed("expected a predicate after '|'");
    }
    q = register_slot(static_cast<std::uint32_t>(second)).offset;
    emit(Operation::predicate_not, LaneType::u32, inverse, result);
    if (combine.has_value()) emit(*combine, LaneType::u32, inverse, inverse, c);
  }
  if (combine.has_value()) {
    emit(*combine, LaneType::u32, d, result, c);
  } else {
    emit(Operation::predicate_move, LaneType::u32, d, result);
  }
  if (second >= 0) emit(Operation::predicate_move, LaneType::u32, q, inverse);
  return true;
}

// Compares the halves of operands 1 and 2 into two new predicates.
bool Decoder::compare_halves(Operation operation, DataType type, std::uint32_t* low,
                             std::uint32_t* high) {
  const LaneType half = type == DataType::f16x2 ? LaneType::f16 : LaneType::bf16;
  std::array<std::uint32_t, 2> lower = {};
  std::array<std::uint32_t, 2> upper = {};
  for (std::size_t i = 0; i < 2; ++i) {
    std::uint32_t both = 0;
    if (!source(operand(i + 1), type, &both)) return false;
    lower[i] = temporary(false).offset;
    upper[i] = temporary(false).offset;
    emit(Operation::unpack_2x16, LaneType::u32, lower[i], both, upper[i]);
  }
  *low = allocate_predicate();
  *high = allocate_predicate();
  emit(operation, half, *low, lower[0], lower[1]);
  emit(operation, half, *high, upper[0], upper[1]);
  return true;
}

// set.lt[.and].dtype.stype d, a, b [, c]: all ones (or 1.0) where the comparison holds.
bool Decoder::decode_set() {
  const auto to = opcode_.type(0);
  const auto from = opcode_.type(1);
  const auto operation = comparison(opcode_.modifier(0));
  if (!to.has_value() || !from.has_value() || !operation.has_value()) return malformed("no types");
  const std::size_t bytes = size_in_bytes(*to);
  if (bytes != 4 && bytes != 2) return unsupported("this destination type");
  classify(InstructionClass::integer);
  const auto combine = combination(opcode_.modifier(1));
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), *from, &a) || !source(operand(2), *from, &b)) return false;
  if (combine.has_value() && !predicate_source(operand(3), &c)) return false;
  if (!destination(operand(0), *to, &d)) return false;
  const auto one = [](DataType type) -> std::uint64_t {
    switch (type) {
      case DataType::f32:
        return 0x3f800000U;
      case DataType::f16:
      case DataType::f16x2:
        return 0x3c00U;
      case DataType::bf16:
      case DataType::bf16x2:
        return 0x3f80U;
      default:
        return size_in_bytes(type) == 2 ? 0xffffU : 0xffffffffU;
    }
  };
  if (*from == DataType::f16x2 || *from == DataType::bf16x2) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    if (bytes != 4 || *to == DataType::f32) return unsupported("this destination type");
    if (!compare_halves(*operation, *from, &low, &high)) return false;
    if (combine.has_value()) emit(*combine, LaneType::u32, low, low, c);
    if (combine.has_value()) emit(*combine, LaneType::u32, high, high, c);
    const std::uint64_t yes = one(*to) & 0xffffU;
    const std::uint32_t lower = temporary(false).offset;
    const std::uint32_t upper = temporary(false).offset;
    emit(Operation::select, LaneType::u32, lower, constant(yes, false), constant(0, false), low);
    emit(Operation::select, LaneType::u32, upper, constant(yes, false), constant(0, false), high);
    emit(Operation::pack_2x16, LaneType::u32, d, lower, upper);
    return true;
  }
  if (*to == DataType::f16x2 || *to == DataType::bf16x2) return malformed("a pair of what is none");
  const std::uint32_t result = allocate_predicate();
  emit(*operation, lane_type(*from), result, a, b);
  if (combine.has_value()) emit(*combine, LaneType::u32, result, result, c);
  emit(Operation::select, LaneType::u32, d, constant(one(*to), false), constant(0, false), result);
  return true;
}

bool Decoder::decode_select() {
  // slct names the type of what decides last.
  const auto type = opcode_.name() == "slct" ? opcode_.type(0) : opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  classify(InstructionClass::integer);
  const bool wide = size_in_bytes(*type) == 8;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  if (!source(operand(1), *type, &a) || !source(operand(2), *type, &b)) return false;
  if (opcode_.name() == "slct") {
    // d = c >= 0 ? a : b
    const DataType by = opcode_.type(1).value_or(DataType::s32);
    std::uint32_t value = 0;
    if (!source(operand(3), by, &value)) return false;
    c = allocate_predicate();
    emit(Operation::greater_equal, by == DataType::f32 ? lane_type(by) : LaneType::s32, c, value,
         constant(0, false));
  } else if (!predicate_source(operand(3), &c)) {
    return false;
  }
  if (!destination(operand(0), *type, &d)) return false;
  emit(Operation::select, wide ? LaneType::u64 : LaneType::u32, d, a, b, c);
  return true;
}

// testp.finite.f32 p, a
bool Decoder::decode_test() {
  struct Entry {
    std::string_view name;
    Operation operation;
  };
  static constexpr std::array<Entry, 6> kTests = {{
      {"finite", Operation::test_finite},
      {"infinite", Operation::test_infinite},
      {"number", Operation::test_number},
      {"notanumber", Operation::test_nan},
      {"normal", Operation::test_normal},
      {"subnormal", Operation::test_subnormal},
  }};
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  classify(InstructionClass::fp32_other);
  for (const Entry& entry : kTests) {
    if (entry.name != opcode_.modifier(0)) continue;
    std::uint32_t a = 0;
    std::uint32_t d = 0;
    if (!source(operand(1), *type, &a) || !predicate_destination(operand(0), &d)) return false;
    emit(entry.operation, lane_type(*type), d, a, a);
    return true;
  }
  return unsupported("this test");
}

}  // namespace regraph::ptx
