// Tensor cores of one warp: mma.sync, and the ways of its operands: ldmatrix, stmatrix, movmatrix.
#include "ptx/decode/decoder.h"

#include <algorithm>
#include <array>
#include <string>

namespace regraph::ptx {

std::optional<MatrixInput> matrix_input(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, MatrixInput>, 8> kTypes = {{
      {"tf32", MatrixInput::tf32},
      {"f16", MatrixInput::f16},
      {"bf16", MatrixInput::bf16},
      {"e4m3", MatrixInput::e4m3},
      {"e5m2", MatrixInput::e5m2},
      {"s8", MatrixInput::s8},
      {"u8", MatrixInput::u8},
      {"f64", MatrixInput::f64},
  }};
  for (const auto& [text, input] : kTypes) {
    if (text == type) return input;
  }
  return std::nullopt;
}

std::optional<MatrixSum> matrix_sum(std::string_view type) {
  if (type == "f32") return MatrixSum::f32;
  if (type == "f16") return MatrixSum::f16;
  if (type == "s32") return MatrixSum::s32;
  if (type == "f64") return MatrixSum::f64;
  return std::nullopt;
}

// Whether there is a product of these: factors of two types only of 8 bits.
bool multiplies(MatrixInput a, MatrixInput b, MatrixSum sum) {
  const auto is_integer = [](MatrixInput input) {
    return input == MatrixInput::s8 || input == MatrixInput::u8;
  };
  const bool alike = a == b || (values_in_word(a) == 4 && values_in_word(b) == 4 &&
                                is_integer(a) == is_integer(b));
  if (!alike || is_integer(a) != (sum == MatrixSum::s32)) return false;
  if ((a == MatrixInput::f64) != (sum == MatrixSum::f64)) return false;
  return sum != MatrixSum::f16 || values_in_word(a) == 4 || a == MatrixInput::f16;
}

MatrixRate matrix_rate(MatrixInput input) {
  if (input == MatrixInput::tf32) return MatrixRate::tf32;
  if (input == MatrixInput::f64) return MatrixRate::fp64;
  return values_in_word(input) == 4 ? MatrixRate::byte : MatrixRate::half;
}

namespace {

// What the product is of; nothing where it is not implemented.
std::optional<MatrixProduct> product_of(const Opcode& opcode) {
  // .sync.aligned.m16n8k8.row.col[.satfinite].f32.tf32.tf32.f32
  const std::size_t count = opcode.modifier_count();
  MatrixProduct product;
  product.saturates = opcode.has("satfinite");
  const bool is_plain = opcode.modifier(0) == "sync" && opcode.modifier(1) == "aligned" &&
                        opcode.modifier(3) == "row" && opcode.modifier(4) == "col" &&
                        count == (product.saturates ? 10U : 9U);
  if (!is_plain || opcode.modifier(count - 1) != opcode.modifier(count - 4)) return std::nullopt;
  const auto a = matrix_input(opcode.modifier(count - 3));
  const auto b = matrix_input(opcode.modifier(count - 2));
  const auto sum = matrix_sum(opcode.modifier(count - 1));
  if (!a || !b || !sum || !multiplies(*a, *b, *sum)) return std::nullopt;
  if (product.saturates && *sum != MatrixSum::s32) return std::nullopt;
  product.a_input = *a;
  product.b_input = *b;
  product.sum = *sum;
  if (*sum == MatrixSum::f64 && opcode.modifier(2) == "m8n8k4") {
    product.rows = 8;
    return product;
  }
  for (const int steps : {1, 2, 4}) {
    if (steps == 4 && *sum != MatrixSum::f64) break;
    product.steps = steps;
    if (opcode.modifier(2) == "m16n8k" + std::to_string(product.depth())) return product;
  }
  return std::nullopt;
}

}  // namespace

bool Decoder::fragment(const Operand& list, bool defines, DataType type, std::uint32_t* to,
                       std::size_t count) {
  const bool is_register = list.kind != Operand::Kind::list && count == 1;
  if (!is_register && (list.kind != Operand::Kind::list || list.count != count))
    return malformed("a fragment has another number of registers");
  for (std::size_t i = 0; i < count; ++i) {
    Operand element = list;
    if (!is_register) list_element(list, i, &element);
    if (!(defines ? destination(element, type, &to[i]) : source(element, type, &to[i])))
      return false;
  }
  return true;
}

// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {d}, {a}, {b}, {c}
bool Decoder::decode_matrix_product() {
  auto product = product_of(opcode_);
  if (!product) return unsupported("this matrix product");
  if (operand_count() != 4) return malformed("wrong number of operands");
  classify(InstructionClass::matrix);
  const bool wide = product->sum == MatrixSum::f64;
  const DataType factors = wide ? DataType::b64 : DataType::b32;
  const DataType sums = wide ? DataType::f64 : DataType::b32;
  const auto sum_count = static_cast<std::size_t>(product->sum_registers());
  if (!fragment(operand(1), false, factors, product->a.data(),
                static_cast<std::size_t>(product->a_registers())) ||
      !fragment(operand(2), false, factors, product->b.data(),
                static_cast<std::size_t>(product->steps)) ||
      !fragment(operand(3), false, sums, product->c.data(), sum_count) ||
      !fragment(operand(0), true, sums, product->d.data(), sum_count)) {
    return false;
  }
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.multiply_adds = product->rows * kMatrixColumns * product->depth();
  info.matrix_rate = matrix_rate(product->a_input);
  emit(Operation::matrix_multiply_add, LaneType::u32).e =
      static_cast<std::uint32_t>(code_.matrix_products.size());
  code_.matrix_products.push_back(*product);
  return true;
}

// ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 {d}, [row]: a load of 16 bytes by the lanes that
// name rows, then an exchange. stmatrix: the other way round.
bool Decoder::decode_matrix_access(bool store) {
  MatrixRearrangement matrices;
  matrices.matrices = opcode_.has("x4") ? 4 : opcode_.has("x2") ? 2 : opcode_.has("x1") ? 1 : 0;
  matrices.transposed = opcode_.has("trans");
  const bool is_known = opcode_.modifier(0) == "sync" && opcode_.modifier(1) == "aligned" &&
                        opcode_.modifier(2) == "m8n8" && opcode_.has("b16") &&
                        opcode_.modifier_count() == (matrices.transposed ? 7U : 6U);
  const bool is_shared = opcode_.has("shared") || opcode_.has("shared::cta");
  if (!is_known || !is_shared || matrices.matrices == 0)
    return unsupported(store ? "this store of matrices" : "this load of matrices");
  if (operand_count() != 2) return malformed("wrong number of operands");
  classify(store ? InstructionClass::store_shared : InstructionClass::load_shared);
  constexpr int kRowBytes = 16;
  code_.instructions[instruction_index_].access_bytes = kRowBytes;
  const auto count = static_cast<std::size_t>(matrices.matrices);

  Record rows;
  bool narrow = false;
  if (!address_register(operand(store ? 0 : 1), &rows.a, &narrow, &rows.immediate)) return false;
  if (!fragment(operand(store ? 1 : 0), !store, DataType::b32, matrices.fragments.data(), count))
    return false;
  for (std::uint32_t& slot : matrices.rows)
    slot = temporary(false).offset;
  rows.handler_id = memory_handler_id(store, narrow, MemoryType::b32, 2);
  rows.d = matrices.rows[0];
  rows.b = matrices.rows[1];
  rows.c = matrices.rows[2];
  rows.e = matrices.rows[3];
  rows.instruction = instruction_index_;
  rows.site = static_cast<std::uint32_t>(code_.sites.size());
  SiteInfo site;
  site.space = StateSpace::shared;
  site.store = store;
  site.elements = 4;
  site.instruction = instruction_index_;
  code_.sites.push_back(site);
  const auto number = static_cast<std::uint32_t>(code_.matrix_rearrangements.size());
  code_.matrix_rearrangements.push_back(matrices);
  if (store) emit(Operation::matrix_collect, LaneType::u32).e = number;
  // Eight lanes name the rows of a matrix.
  const std::uint32_t saved = allocate_predicate();
  const std::size_t begin = code_.records.size();
  const std::uint64_t naming = count == 4 ? kFullMask : (1U << (8 * count)) - 1U;
  emit(Operation::narrow_lanes, LaneType::u32, saved, constant(naming, false));
  code_.records.push_back(rows);
  emit(Operation::restore_lanes, LaneType::u32, saved);
  code_.records[begin].target = static_cast<std::uint32_t>(code_.records.size());
  if (!store) emit(Operation::matrix_distribute, LaneType::u32).e = number;
  return true;
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a: a store and a load without memory.
bool Decoder::decode_matrix_move() {
  const bool is_known = opcode_.modifier_count() == 5 && opcode_.modifier(0) == "sync" &&
                        opcode_.modifier(1) == "aligned" && opcode_.modifier(2) == "m8n8" &&
                        opcode_.modifier(3) == "trans" && opcode_.modifier(4) == "b16";
  if (!is_known) return unsupported("this move of a matrix");
  if (operand_count() != 2) return malformed("wrong number of operands");
  classify(InstructionClass::shuffle);
  MatrixRearrangement from;
  MatrixRearrangement to;
  to.transposed = true;
  if (!source(operand(1), DataType::b32, from.fragments.data()) ||
      !destination(operand(0), DataType::b32, to.fragments.data())) {
    return false;
  }
  for (std::size_t i = 0; i < from.rows.size(); ++i)
    from.rows[i] = to.rows[i] = temporary(false).offset;
  for (const bool back : {false, true}) {
    emit(back ? Operation::matrix_distribute : Operation::matrix_collect, LaneType::u32).e =
        static_cast<std::uint32_t>(code_.matrix_rearrangements.size());
    code_.matrix_rearrangements.push_back(back ? to : from);
  }
  return true;
}

}  // namespace regraph::ptx
