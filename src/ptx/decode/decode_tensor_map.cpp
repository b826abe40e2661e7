// tensormap.replace, tensormap.cp_fenceproxy and cp.async.bulk.tensor. A map that is made on the
// device field by field, as CUTLASS does it for groups of products; those that a host encodes are
// opaque to us.
#include "ptx/decode/decoder.h"
#include "ptx/decode/tensor_map.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace regraph::ptx {
namespace {

struct Field {
  std::size_t offset = 0;
  int count = 1;      // numbers of one name; the instruction says which
  bool wide = false;  // 64 bits
};

std::optional<Field> field_of(std::string_view name) {
  constexpr int kDimensions = TensorMap::kMostDimensions;
  if (name == "global_address") return Field{offsetof(TensorMap, address), 1, true};
  if (name == "global_stride") return Field{offsetof(TensorMap, strides), kDimensions - 1, true};
  if (name == "global_dim") return Field{offsetof(TensorMap, extents), kDimensions};
  if (name == "box_dim") return Field{offsetof(TensorMap, box), kDimensions};
  if (name == "element_stride") return Field{offsetof(TensorMap, element_strides), kDimensions};
  if (name == "rank") return Field{offsetof(TensorMap, last_dimension)};
  if (name == "elemtype") return Field{offsetof(TensorMap, type)};
  if (name == "interleave_layout") return Field{offsetof(TensorMap, interleave)};
  if (name == "swizzle_mode") return Field{offsetof(TensorMap, swizzle)};
  if (name == "fill_mode") return Field{offsetof(TensorMap, fill)};
  return std::nullopt;
}

}  // namespace

// tensormap.replace.tile.FIELD.SPACE.b1024.TYPE [map], [number,] value: a store to the field.
bool Decoder::decode_tensor_map_field() {
  const auto field = field_of(opcode_.modifier(2));
  const auto space = space_of(opcode_);
  if (!field || opcode_.modifier(1) != "tile" || !space) return unsupported("this field of a map");
  const bool is_one_of_many = field->count > 1;
  if (operand_count() != (is_one_of_many ? 3U : 2U)) return malformed("wrong number of operands");
  Operand address = operand(0);
  if (address.kind != Operand::Kind::address) return malformed("expected an address");
  std::size_t offset = field->offset;
  if (is_one_of_many) {
    const Operand& number = operand(1);
    if (number.kind != Operand::Kind::integer ||
        number.bits >= static_cast<std::uint64_t>(field->count)) {
      return malformed("expected the number of a dimension");
    }
    offset += number.bits * (field->wide ? 8 : 4);
  }
  address.offset += static_cast<std::int64_t>(offset);
  classify(access_class(true, *space));
  code_.instructions[instruction_index_].access_bytes = field->wide ? 8 : 4;
  return decode_access(true, *space, address, operand(operand_count() - 1),
                       field->wide ? DataType::b64 : DataType::b32, 1, 0);
}

// tensormap.cp_fenceproxy.global.shared::cta... [to], [from], 128: a warp's.
bool Decoder::decode_tensor_map_copy() {
  if (opcode_.modifier(1) != "global" || opcode_.modifier(2) != "shared::cta")
    return unsupported("this copy of a map");
  if (operand_count() != 3) return malformed("wrong number of operands");
  BulkCopy copy;
  copy.to_shared = false;
  copy.is_map = true;
  if (!named_address(operand(0), &copy.global) || !named_address(operand(1), &copy.shared))
    return false;
  emit_bulk_copy(copy);
  classify(InstructionClass::other);
  return true;
}

bool Decoder::decode_tensor_map() {
  if (opcode_.modifier(0) == "replace") return decode_tensor_map_field();
  if (opcode_.modifier(0) == "cp_fenceproxy") return decode_tensor_map_copy();
  return unsupported("this operation on a map");
}

// cp.async.bulk.tensor.2d.shared::cluster.global[.tile].mbarrier::complete_tx::bytes
//     [to], [map, {column, row}], [mbarrier]
bool Decoder::decode_tensor_copy() {
  const std::string_view rank = opcode_.modifier(3);
  int dimensions = 0;
  const auto read = std::from_chars(rank.data(), rank.data() + rank.size(), dimensions);
  const bool is_rank = read.ec == std::errc() && dimensions >= 1 &&
                       dimensions <= TensorMap::kMostDimensions && rank.ends_with('d');
  const std::string_view to = opcode_.modifier(4);
  const bool is_load = (to == "shared::cluster" || to == "shared::cta") &&
                       opcode_.modifier(5) == "global" &&
                       opcode_.has("mbarrier::complete_tx::bytes");
  const bool is_plain = !opcode_.has("multicast::cluster") && !opcode_.has("im2col");
  const std::size_t hints = opcode_.has("L2::cache_hint") ? 1 : 0;
  if (!is_rank || !is_load || !is_plain) return unsupported("this copy of a tensor");
  if (operand_count() != 3 + hints) return malformed("wrong number of operands");
  BulkCopy copy;
  copy.dimensions = dimensions;
  const Operand& from = operand(1);
  if (from.kind != Operand::Kind::address ||
      from.count != static_cast<std::uint32_t>(dimensions) + 1) {
    return malformed("expected a map and its coordinates");
  }
  for (int i = 0; i < dimensions; ++i) {
    const Operand coordinate =
        code_.function->elements[from.index + 1 + static_cast<std::uint32_t>(i)];
    if (!source(coordinate, DataType::b32, &copy.coordinates[static_cast<std::size_t>(i)]))
      return false;
  }
  if (!named_address(operand(0), &copy.shared) || !named_address(from, &copy.global) ||
      !named_address(operand(2), &copy.mbarrier)) {
    return false;
  }
  emit_bulk_copy(copy);
  return true;
}

}  // namespace regraph::ptx
