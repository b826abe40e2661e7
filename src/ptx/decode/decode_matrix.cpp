// Tensor cores: mma.sync with fp32 sums, and the loads of its operands, ldmatrix.
#include "ptx/decode/decoder.h"

#include <algorithm>
#include <array>
#include <string>

namespace regraph::ptx {
namespace {

// What the product is of; nothing where it is not implemented.
std::optional<MatrixProduct> product_of(const Opcode& opcode) {
  const bool is_plain = opcode.has("sync") && opcode.has("aligned") && opcode.has("row") &&
                        opcode.has("col") && !opcode.has("sp") && !opcode.has("satfinite");
  // ... .row.col.f32.tf32.tf32.f32
  const std::size_t count = opcode.modifier_count();
  if (!is_plain || count < 4 || opcode.modifier(count - 1) != "f32" ||
      opcode.modifier(count - 4) != "f32" ||
      opcode.modifier(count - 2) != opcode.modifier(count - 3)) {
    return std::nullopt;
  }
  MatrixProduct product;
  const std::string_view input = opcode.modifier(count - 2);
  if (input == "f16") {
    product.input = MatrixInput::f16;
  } else if (input == "bf16") {
    product.input = MatrixInput::bf16;
  } else if (input != "tf32") {
    return std::nullopt;
  }
  for (const int steps : {1, 2}) {
    product.steps = steps;
    if (opcode.has("m16n8k" + std::to_string(product.depth()))) return product;
  }
  return std::nullopt;
}

}  // namespace

// mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {d}, {a}, {b}, {c}
bool Decoder::decode_matrix_product() {
  auto product = product_of(opcode_);
  if (!product) return unsupported("this matrix product");
  if (operand_count() != 4) return malformed("wrong number of operands");
  classify(InstructionClass::matrix);
  const auto read = [&](std::size_t which, std::size_t count, DataType type, std::uint32_t* to) {
    const Operand& list = operand(which);
    const bool is_register = list.kind != Operand::Kind::list && count == 1;
    if (!is_register && (list.kind != Operand::Kind::list || list.count != count))
      return malformed("a fragment has another number of registers");
    for (std::size_t i = 0; i < count; ++i) {
      Operand element = list;
      if (!is_register) list_element(list, i, &element);
      const bool known =
          which == 0 ? destination(element, type, &to[i]) : source(element, type, &to[i]);
      if (!known) return false;
    }
    return true;
  };
  const auto steps = static_cast<std::size_t>(product->steps);
  if (!read(1, 2 * steps, DataType::b32, product->a.data()) ||
      !read(2, steps, DataType::b32, product->b.data()) ||
      !read(3, 4, DataType::f32, product->c.data()) ||
      !read(0, 4, DataType::f32, product->d.data())) {
    return false;
  }
  code_.instructions[instruction_index_].multiply_adds =
      kMatrixRows * kMatrixColumns * product->depth();
  code_.instructions[instruction_index_].is_tf32 = product->input == MatrixInput::tf32;
  emit(Operation::matrix_multiply_add, LaneType::u32).e =
      static_cast<std::uint32_t>(code_.matrix_products.size());
  code_.matrix_products.push_back(*product);
  return true;
}

// ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 {d}, [row]: a load of 16 bytes by the lanes that
// name rows, then an exchange.
bool Decoder::decode_matrix_load() {
  const bool is_known = opcode_.has("sync") && opcode_.has("aligned") && opcode_.has("m8n8") &&
                        opcode_.has("b16") && (opcode_.has("shared") || opcode_.has("shared::cta"));
  MatrixLoad load;
  load.matrices = opcode_.has("x4") ? 4 : opcode_.has("x2") ? 2 : opcode_.has("x1") ? 1 : 0;
  load.transposed = opcode_.has("trans");
  if (!is_known || load.matrices == 0) return unsupported("this load of matrices");
  if (operand_count() != 2) return malformed("wrong number of operands");
  classify(InstructionClass::load_shared);
  InstructionInfo& info = code_.instructions[instruction_index_];
  constexpr int kRowBytes = 16;
  info.access_bytes = kRowBytes;
  const auto count = static_cast<std::size_t>(load.matrices);
  const Operand& target = operand(0);
  if (target.kind == Operand::Kind::list ? target.count != count : count != 1)
    return malformed("another number of registers than of matrices");

  Record rows;
  bool narrow = false;
  if (!address_register(operand(1), &rows.a, &narrow, &rows.immediate)) return false;
  for (std::uint32_t& slot : load.rows)
    slot = temporary(false).offset;
  rows.handler_id = memory_handler_id(false, narrow, MemoryType::b32, 2);
  rows.d = load.rows[0];
  rows.b = load.rows[1];
  rows.c = load.rows[2];
  rows.e = load.rows[3];
  rows.instruction = instruction_index_;
  rows.site = static_cast<std::uint32_t>(code_.sites.size());
  SiteInfo site;
  site.space = StateSpace::shared;
  site.elements = 4;
  site.instruction = instruction_index_;
  code_.sites.push_back(site);
  // Eight lanes name the rows of a matrix.
  const std::uint32_t saved = allocate_predicate();
  const std::size_t begin = code_.records.size();
  const std::uint64_t naming = load.matrices == 4 ? kFullMask : (1U << (8 * load.matrices)) - 1U;
  emit(Operation::narrow_lanes, LaneType::u32, saved, constant(naming, false));
  code_.records.push_back(rows);
  emit(Operation::restore_lanes, LaneType::u32, saved);
  code_.records[begin].target = static_cast<std::uint32_t>(code_.records.size());
  for (std::size_t i = 0; i < count; ++i) {
    Operand element = target;
    if (target.kind == Operand::Kind::list) list_element(target, i, &element);
    if (!destination(element, DataType::b32, &load.d[i])) return false;
  }
  emit(Operation::matrix_distribute, LaneType::u32).e =
      static_cast<std::uint32_t>(code_.matrix_loads.size());
  code_.matrix_loads.push_back(load);
  return true;
}

}  // namespace regraph::ptx
