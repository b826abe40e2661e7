// Tensor cores of a warpgroup, four warps: wgmma. Each warp does its part of a product where it
// comes to the instruction; wgmma.fence, commit_group and wait_group order accesses for whoever
// looks for data races and do nothing else.
#include "ptx/decode/decoder.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace regraph::ptx {
namespace {

// The N of m64nNkK, for that K; nothing where it is none.
std::optional<int> columns_of(std::string_view shape, int depth) {
  constexpr std::string_view kRows = "m64n";
  if (!shape.starts_with(kRows)) return std::nullopt;
  shape.remove_prefix(kRows.size());
  int columns = 0;
  const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), columns);
  if (error != std::errc() || columns < 8 || columns > 256 || columns % 8 != 0) return std::nullopt;
  shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  if (shape != "k" + std::to_string(depth)) return std::nullopt;
  return columns;
}

// .mma_async.sync.aligned.m64n64k16[.satfinite].f32.f16.f16
std::optional<WarpgroupProduct> warpgroup_product_of(const Opcode& opcode) {
  WarpgroupProduct product;
  product.saturates = opcode.has("satfinite");
  const std::size_t count = opcode.modifier_count();
  const bool is_plain = opcode.modifier(0) == "mma_async" && opcode.modifier(1) == "sync" &&
                        opcode.modifier(2) == "aligned" && count == (product.saturates ? 8U : 7U);
  if (!is_plain) return std::nullopt;
  const auto sum = matrix_sum(opcode.modifier(count - 3));
  const auto a = matrix_input(opcode.modifier(count - 2));
  const auto b = matrix_input(opcode.modifier(count - 1));
  if (!sum || !a || !b || *sum == MatrixSum::f64 || !multiplies(*a, *b, *sum)) return std::nullopt;
  if (product.saturates && *sum != MatrixSum::s32) return std::nullopt;
  product.sum = *sum;
  product.a_input = *a;
  product.b_input = *b;
  const auto columns = columns_of(opcode.modifier(3), product.depth());
  if (!columns) return std::nullopt;
  product.columns = *columns;
  return product;
}

}  // namespace

// A number that the instruction names, one of two.
bool Decoder::flag(const Operand& operand, std::int64_t no, std::int64_t yes, bool* is) {
  const auto value = static_cast<std::int64_t>(operand.bits);
  if (operand.kind != Operand::Kind::integer || (value != no && value != yes))
    return malformed("a scale or transposition that is not one of two numbers");
  *is = value == yes;
  return true;
}

// wgmma.mma_async... {d}, a, b-desc, scale-d [, imm-scale-a, imm-scale-b [, [imm-trans-a,]
// imm-trans-b]]
bool Decoder::decode_warpgroup_product() {
  auto product = warpgroup_product_of(opcode_);
  if (!product) return unsupported("this product of a warpgroup");
  classify(InstructionClass::matrix);
  product->a_in_registers = operand(1).kind == Operand::Kind::list;
  const bool is_integer = product->sum == MatrixSum::s32;
  const bool may_transpose = values_in_word(product->a_input) == 2;
  const std::size_t transpositions = may_transpose ? (product->a_in_registers ? 1 : 2) : 0;
  if (operand_count() != (is_integer ? 4 : 6 + transpositions))
    return malformed("wrong number of operands");
  const bool has_a = product->a_in_registers
                         ? fragment(operand(1), false, DataType::b32, product->a.data(), 4)
                         : source(operand(1), DataType::b64, product->a.data());
  if (!has_a || !source(operand(2), DataType::b64, &product->b) ||
      !predicate_source(operand(3), &product->adds)) {
    return false;
  }
  if (!is_integer && (!flag(operand(4), 1, -1, &product->negates_a) ||
                      !flag(operand(5), 1, -1, &product->negates_b))) {
    return false;
  }
  if (transpositions == 2 && !flag(operand(6), 0, 1, &product->a_transposed)) return false;
  if (transpositions > 0 && !flag(operand(5 + transpositions), 0, 1, &product->b_transposed))
    return false;
  if (!fragment(operand(0), true, DataType::b32, product->d.data(),
                static_cast<std::size_t>(product->sum_registers()))) {
    return false;
  }
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.multiply_adds = kMatrixRows * product->columns * product->depth();
  info.matrix_rate = matrix_rate(product->a_input);
  info.of_warpgroup = true;
  // What it reads of shared memory: 16 bytes at a time, of no lane's.
  Record& record = emit(Operation::warpgroup_multiply_add, LaneType::u32);
  record.e = static_cast<std::uint32_t>(code_.warpgroup_products.size());
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  code_.warpgroup_products.push_back(*product);
  SiteInfo site;
  site.space = StateSpace::shared;
  site.elements = 4;
  site.counted = false;
  site.instruction = instruction_index_;
  code_.sites.push_back(site);
  return true;
}

bool Decoder::decode_warpgroup() {
  if (opcode_.modifier(0) == "mma_async") return decode_warpgroup_product();
  const bool is_aligned = opcode_.modifier(1) == "sync" && opcode_.modifier(2) == "aligned" &&
                          opcode_.modifier_count() == 3;
  classify(InstructionClass::other);
  if (is_aligned && opcode_.modifier(0) == "fence") {
    emit(Operation::nothing, LaneType::u32);
    return true;
  }
  if (is_aligned && opcode_.modifier(0) == "commit_group") {
    emit(Operation::asynchronous_committed, LaneType::u32).flags = kTensorAgent;
    return true;
  }
  if (is_aligned && opcode_.modifier(0) == "wait_group") {
    if (operand_count() != 1 || operand(0).kind != Operand::Kind::integer)
      return malformed("expected a number of groups");
    Record& record = emit(Operation::asynchronous_awaited, LaneType::u32);
    record.flags = kTensorAgent;
    record.immediate = static_cast<std::int64_t>(operand(0).bits & 0xffffU);
    return true;
  }
  return unsupported("this instruction of a warpgroup");
}

}  // namespace regraph::ptx
