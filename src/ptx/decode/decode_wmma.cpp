// wmma: loads, products and stores of matrices whose fragments PTX leaves open. Here word i of a
// matrix, along its rows (or columns, as it lies in memory), is in register i / 32 of lane i % 32;
// fragments that have room for more hold it again.
#include "ptx/decode/decoder.h"

#include <algorithm>
#include <array>

namespace regraph::ptx {
namespace {

struct WmmaShape {
  int m = 0;
  int n = 0;
  int k = 0;
};

std::optional<WmmaShape> wmma_shape(const Opcode& opcode) {
  static constexpr std::array<std::pair<std::string_view, WmmaShape>, 5> kShapes = {{
      {"m16n16k16", {16, 16, 16}},
      {"m32n8k16", {32, 8, 16}},
      {"m8n32k16", {8, 32, 16}},
      {"m16n16k8", {16, 16, 8}},
      {"m8n8k4", {8, 8, 4}},
  }};
  for (const auto& [text, shape] : kShapes) {
    if (opcode.has(text)) return shape;
  }
  return std::nullopt;
}

bool has_shape(MatrixInput input, const WmmaShape& shape) {
  if (input == MatrixInput::f64) return shape.k == 4;
  if (input == MatrixInput::tf32) return shape.k == 8;
  const bool is_known = input != MatrixInput::e4m3 && input != MatrixInput::e5m2;
  return is_known && shape.k == 16;
}

// Registers of a fragment of A or B with `elements` elements.
int factor_registers(MatrixInput input, int elements) {
  return input == MatrixInput::f16 ? 8 : elements / kWarpLanes / values_in_word(input);
}
int sum_registers(MatrixSum sum, const WmmaShape& shape) {
  return shape.m * shape.n / kWarpLanes / (sum == MatrixSum::f16 ? 2 : 1);
}

}  // namespace

// wmma.load.a.sync.aligned.row.m16n16k16[.shared].f16 {r}, [p] [, stride]; wmma.store.d likewise
bool Decoder::decode_wmma_access(bool store) {
  const std::string_view matrix = opcode_.modifier(1);
  const auto shape = wmma_shape(opcode_);
  const std::string_view type = opcode_.modifier(opcode_.modifier_count() - 1);
  const bool by_rows = opcode_.modifier(4) == "row";
  const bool is_sum = matrix == "c" || matrix == "d";
  const auto input = matrix_input(type);
  const auto sum = matrix_sum(type);
  const auto space = space_of(opcode_);
  const bool is_known = shape && space && (store ? matrix == "d" : matrix != "d") &&
                        opcode_.modifier(2) == "sync" && opcode_.modifier(3) == "aligned" &&
                        (by_rows || opcode_.modifier(4) == "col") &&
                        (is_sum ? sum.has_value() : input && has_shape(*input, *shape));
  if (!is_known) return unsupported("this access to a matrix");
  if (is_sum && sum == MatrixSum::f16 && !by_rows)
    return unsupported("sums of f16 that lie in columns");
  const bool wide = type == "f64";
  const int rows = matrix == "b" ? shape->k : shape->m;
  const int columns = matrix == "a" ? shape->k : shape->n;
  const int values = is_sum ? (sum == MatrixSum::f16 ? 2 : 1) : values_in_word(*input);
  WmmaAccess access;
  access.word_bytes = wide ? 8 : 4;
  access.element_bytes = access.word_bytes / values;
  access.words_per_line = (is_sum || by_rows ? columns : rows) / values;
  access.across = is_sum && !by_rows;
  access.stride = by_rows ? columns : rows;
  const auto count = static_cast<std::size_t>(is_sum ? sum_registers(*sum, *shape)
                                                     : factor_registers(*input, rows * columns));
  const auto distinct = static_cast<std::size_t>(rows * columns / values / kWarpLanes);
  const Operand& address = operand(store ? 0 : 1);
  if (operand_count() < 2 || operand_count() > 3) return malformed("wrong number of operands");
  std::array<std::uint32_t, 8> registers = {};
  NamedAddress at;
  std::uint32_t stride = 0;
  if (!named_address(address, &at) ||
      (operand_count() == 3 && !source(operand(2), DataType::b32, &stride)) ||
      !fragment(operand(store ? 1 : 0), !store, wide ? DataType::b64 : DataType::b32,
                registers.data(), count)) {
    return false;
  }
  classify(access_class(store, *space));
  code_.instructions[instruction_index_].access_bytes = access.word_bytes;
  const auto number = static_cast<std::uint32_t>(code_.wmma_accesses.size());
  code_.wmma_accesses.push_back(access);
  const std::uint32_t addresses = temporary(true).offset;
  // All are loaded before the first register, which may hold the stride, is written.
  std::array<std::uint32_t, 8> loaded = registers;
  for (std::size_t i = 0; !store && i < distinct; ++i)
    loaded[i] = temporary(wide).offset;
  for (std::size_t i = 0; i < distinct; ++i) {
    Record& named = emit(Operation::wmma_addresses, LaneType::u32, addresses, at.offset, stride);
    named.c = static_cast<std::uint32_t>(i);
    named.e = number;
    named.flags = at.narrow ? 1 : 0;
    named.immediate = at.displacement;
    emit_wmma_word(store, *space, wide, addresses, loaded[i]);
  }
  for (std::size_t i = 0; !store && i < count; ++i) {
    emit(Operation::move, wide ? LaneType::u64 : LaneType::u32, registers[i], loaded[i % distinct]);
  }
  return true;
}

// One word of each lane.
void Decoder::emit_wmma_word(bool store, StateSpace space, bool wide, std::uint32_t addresses,
                             std::uint32_t value) {
  Record record;
  record.handler_id = memory_handler_id(store, false, wide ? MemoryType::b64 : MemoryType::b32, 0);
  record.d = value;
  record.a = addresses;
  record.instruction = instruction_index_;
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  const bool traced = !options_.trace.empty() && options_.trace[instruction_index_];
  if (traced) {
    Record trace = record;
    trace.handler_id = handler_id(Operation::trace_access, LaneType::u64);
    code_.records.push_back(trace);
  }
  if (!traced || options_.execute[instruction_index_]) code_.records.push_back(record);
  SiteInfo site;
  site.space = space;
  site.store = store;
  site.element_bytes = wide ? 8 : 4;
  site.instruction = instruction_index_;
  code_.sites.push_back(site);
}

// wmma.mma.sync.aligned.row.col.m16n16k16[.rn][.satfinite].f32.f32 {d}, {a}, {b}, {c}: types of D
// and C for factors of f16; of D, A, B and C for others.
bool Decoder::decode_wmma_product() {
  const auto shape = wmma_shape(opcode_);
  WmmaProduct product;
  product.saturates = opcode_.has("satfinite");
  const std::size_t count = opcode_.modifier_count();
  const std::size_t before = 6U + (product.saturates ? 1U : 0U) + (opcode_.has("rn") ? 1U : 0U);
  const std::size_t types = count - std::min(count, before);
  const bool is_plain = shape && opcode_.modifier(1) == "sync" &&
                        opcode_.modifier(2) == "aligned" && (types == 2 || types == 4);
  if (!is_plain) return unsupported("this matrix product");
  const auto d = matrix_sum(opcode_.modifier(count - types));
  const auto c = matrix_sum(opcode_.modifier(count - 1));
  const auto a = types == 2 ? MatrixInput::f16 : matrix_input(opcode_.modifier(count - 3));
  const auto b = types == 2 ? MatrixInput::f16 : matrix_input(opcode_.modifier(count - 2));
  const auto is_layout = [](std::string_view word) { return word == "row" || word == "col"; };
  if (!d || !c || !a || a != b || !multiplies(*a, *b, *c) || !multiplies(*a, *b, *d) ||
      !has_shape(*a, *shape) || !is_layout(opcode_.modifier(3)) ||
      !is_layout(opcode_.modifier(4)) || (product.saturates && *d != MatrixSum::s32)) {
    return unsupported("this matrix product");
  }
  if (operand_count() != 4) return malformed("wrong number of operands");
  classify(InstructionClass::matrix);
  product.input = *a;
  product.from = *c;
  product.to = *d;
  product.rows = shape->m;
  product.columns = shape->n;
  product.depth = shape->k;
  product.a_by_rows = opcode_.modifier(3) == "row";
  product.b_by_rows = opcode_.modifier(4) == "row";
  const bool wide = *a == MatrixInput::f64;
  const DataType word = wide ? DataType::b64 : DataType::b32;
  const auto size = [](int number) { return static_cast<std::size_t>(number); };
  if (!fragment(operand(1), false, word, product.a.data(),
                size(factor_registers(*a, shape->m * shape->k))) ||
      !fragment(operand(2), false, word, product.b.data(),
                size(factor_registers(*b, shape->k * shape->n))) ||
      !fragment(operand(3), false, word, product.c.data(), size(sum_registers(*c, *shape))) ||
      !fragment(operand(0), true, word, product.d.data(), size(sum_registers(*d, *shape)))) {
    return false;
  }
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.multiply_adds = shape->m * shape->n * shape->k;
  info.matrix_rate = matrix_rate(*a);
  emit(Operation::wmma_multiply_add, LaneType::u32).e =
      static_cast<std::uint32_t>(code_.wmma_products.size());
  code_.wmma_products.push_back(product);
  return true;
}

bool Decoder::decode_wmma() {
  const std::string_view what = opcode_.modifier(0);
  if (what == "load") return decode_wmma_access(false);
  if (what == "store") return decode_wmma_access(true);
  if (what == "mma") return decode_wmma_product();
  return unsupported("this instruction on matrices");
}

}  // namespace regraph::ptx
