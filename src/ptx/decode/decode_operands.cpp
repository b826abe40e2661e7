#include "ptx/decode/decoder.h"
#include "ptx/decode/execution.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace regraph::ptx {
namespace {

constexpr std::uint32_t kNarrowSlot = kWarpLanes * 4;
constexpr std::uint32_t kWideSlot = kWarpLanes * 8;

std::optional<SpecialRegister> special_from_name(std::string_view name) {
  using S = SpecialRegister;
  static constexpr std::array<std::pair<std::string_view, S>, 51> kNames = {{
      {"%tid.x", S::tid_x},
      {"%tid.y", S::tid_y},
      {"%tid.z", S::tid_z},
      {"%ntid.x", S::ntid_x},
      {"%ntid.y", S::ntid_y},
      {"%ntid.z", S::ntid_z},
      {"%ctaid.x", S::ctaid_x},
      {"%ctaid.y", S::ctaid_y},
      {"%ctaid.z", S::ctaid_z},
      {"%nctaid.x", S::nctaid_x},
      {"%nctaid.y", S::nctaid_y},
      {"%nctaid.z", S::nctaid_z},
      {"%laneid", S::laneid},
      {"%warpid", S::warpid},
      {"%nwarpid", S::nwarpid},
      {"%lanemask_eq", S::lanemask_eq},
      {"%lanemask_lt", S::lanemask_lt},
      {"%lanemask_le", S::lanemask_le},
      {"%lanemask_gt", S::lanemask_gt},
      {"%lanemask_ge", S::lanemask_ge},
      {"WARP_SZ", S::warp_size},
      {"%dynamic_smem_size", S::dynamic_shared_bytes},
      {"%total_smem_size", S::total_shared_bytes},
      // Time stands still: kernels may read clocks, but nothing here depends on the machine's.
      {"%clock", S::zero},
      {"%clock_hi", S::zero},
      {"%clock64", S::zero},
      {"%globaltimer", S::zero},
      {"%globaltimer_lo", S::zero},
      {"%clusterid.x", S::clusterid_x},
      {"%clusterid.y", S::clusterid_y},
      {"%clusterid.z", S::clusterid_z},
      {"%nclusterid.x", S::nclusterid_x},
      {"%nclusterid.y", S::nclusterid_y},
      {"%nclusterid.z", S::nclusterid_z},
      {"%cluster_ctaid.x", S::cluster_ctaid_x},
      {"%cluster_ctaid.y", S::cluster_ctaid_y},
      {"%cluster_ctaid.z", S::cluster_ctaid_z},
      {"%cluster_nctaid.x", S::cluster_nctaid_x},
      {"%cluster_nctaid.y", S::cluster_nctaid_y},
      {"%cluster_nctaid.z", S::cluster_nctaid_z},
      {"%cluster_ctarank", S::cluster_ctarank},
      {"%cluster_nctarank", S::cluster_nctarank},
      {"%gridid", S::zero},
      {"%smid", S::zero},
      {"%nsmid", S::one},
      {"%envreg0", S::zero},
      {"%envreg1", S::zero},
      {"%envreg2", S::zero},
      {"%envreg3", S::zero},
      {"%envreg4", S::zero},
      {"%envreg5", S::zero},
  }};
  for (const auto& [text, which] : kNames) {
    if (text == name) return which;
  }
  return std::nullopt;
}

}  // namespace

Decoder::Slot Decoder::allocate(bool wide) {
  const Slot slot{code_.register_bytes, wide};
  code_.register_bytes += wide ? kWideSlot : kNarrowSlot;
  return slot;
}

Decoder::Slot Decoder::temporary(bool wide) {
  std::vector<Slot>& slots = temporaries_[wide ? 1 : 0];
  std::size_t& used = temporaries_used_[wide ? 1 : 0];
  if (used == slots.size()) slots.push_back(allocate(wide));
  return slots[used++];
}

std::uint32_t Decoder::allocate_predicate() {
  constexpr std::uint32_t kGroup = 64;
  if (predicate_next_ == predicate_end_) {
    predicate_next_ = code_.register_bytes;
    code_.register_bytes += kGroup;
    predicate_end_ = code_.register_bytes;
  }
  const std::uint32_t offset = predicate_next_;
  predicate_next_ += 4;
  return offset;
}

Decoder::Slot Decoder::register_slot(std::uint32_t reg) {
  std::optional<Slot>& slot = registers_[reg];
  if (slot.has_value()) return *slot;
  const DataType type = code_.function->registers[reg];
  const bool wide = size_in_bytes(type) == 8;
  if (type == DataType::predicate) {
    slot = Slot{allocate_predicate(), false};
  } else if (allocation_.storage.empty()) {
    slot = allocate(wide);
  } else {
    const auto [found, is_new] = storage_.try_emplace({allocation_.storage[reg], wide}, 0);
    if (is_new) found->second = allocate(wide).offset;
    slot = Slot{found->second, wide};
  }
  return *slot;
}

std::uint32_t Decoder::constant(std::uint64_t bits, bool wide) {
  if (!wide) bits &= 0xffffffffU;
  const auto [found, is_new] = constants_.try_emplace({bits, wide}, 0);
  if (is_new) {
    found->second = allocate(wide).offset;
    code_.constants.push_back({found->second, wide, bits});
  }
  return found->second;
}

const Operand& Decoder::operand(std::size_t index) const {
  static const Operand kMissing;
  if (index >= instruction_->operand_count) return kMissing;
  return code_.function->operands[instruction_->first_operand + index];
}

bool Decoder::list_element(const Operand& list, std::size_t index, Operand* element) const {
  if (list.kind != Operand::Kind::list || index >= list.count) return false;
  *element = code_.function->elements[list.index + index];
  return true;
}

std::optional<DataType> Decoder::register_type(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg) return std::nullopt;
  return code_.function->registers[operand.index];
}

bool Decoder::special(std::string_view name, DataType type, std::uint32_t* offset) {
  const auto which = special_from_name(name);
  if (!which.has_value()) return unsupported(fmt::format("special register {}", name));
  const bool wide = size_in_bytes(type) == 8;
  const auto [found, is_new] = specials_.try_emplace({*which, wide}, 0);
  if (is_new) {
    found->second = allocate(wide).offset;
    code_.specials.push_back({found->second, *which, wide});
  }
  *offset = found->second;
  return true;
}

bool Decoder::variable_address(const Operand& operand, std::uint64_t* address, StateSpace* space) {
  const auto placed = placed_.find(operand.index);
  if (placed == placed_.end()) return unsupported(fmt::format("the address of '{}'", operand.text));
  *space = placed->second.first;
  *address = placed->second.second + static_cast<std::uint64_t>(operand.offset);
  return true;
}

bool Decoder::source(const Operand& operand, DataType type, std::uint32_t* offset) {
  const bool wide = size_in_bytes(type) == 8;
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const DataType held = code_.function->registers[operand.index];
      if (held == DataType::predicate) return malformed("a predicate where a value is expected");
      const Slot slot = register_slot(operand.index);
      *offset = slot.offset;
      if (slot.wide == wide) return true;
      if (wide) return malformed("a register too narrow for the instruction's type");
      *offset = temporary(false).offset;
      emit(Operation::from_u64, LaneType::u32, *offset, slot.offset);
      return true;
    }
    case Operand::Kind::integer:
      *offset = constant(size_in_bytes(type) == 2 ? operand.bits & 0xffffU : operand.bits, wide);
      return true;
    case Operand::Kind::real32:
    case Operand::Kind::real64: {
      std::uint64_t bits = operand.bits;
      if (operand.kind == Operand::Kind::real64 && !wide) {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      } else if (operand.kind == Operand::Kind::real32 && wide) {
        bits = std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      }
      *offset = constant(bits, wide);
      return true;
    }
    case Operand::Kind::special:
      return special(operand.text, type, offset);
    case Operand::Kind::variable: {
      std::uint64_t address = 0;
      StateSpace space = StateSpace::generic;
      if (!variable_address(operand, &address, &space)) return false;
      if (space == StateSpace::local && in_callee()) {  // relative to the frame
        *offset = temporary(wide).offset;
        emit(Operation::frame_address, wide ? LaneType::u64 : LaneType::u32, *offset).immediate =
            static_cast<std::int64_t>(address);
        return true;
      }
      *offset = constant(address, wide);
      return true;
    }
    case Operand::Kind::function: {
      const std::uint32_t function = function_with_body(*code_.module, operand.index);
      *offset = constant(function_address(function), wide);
      return true;
    }
    default:
      return unsupported("this kind of operand");
  }
}

bool Decoder::destination(const Operand& operand, DataType type, std::uint32_t* offset) {
  const bool wide = size_in_bytes(type) == 8;
  if (operand.kind == Operand::Kind::sink) {
    *offset = temporary(wide).offset;
    return true;
  }
  if (operand.kind != Operand::Kind::reg) return malformed("the destination is not a register");
  if (code_.function->registers[operand.index] == DataType::predicate) {
    return malformed("a predicate as the destination of a value");
  }
  const Slot slot = register_slot(operand.index);
  if (slot.wide != wide) return malformed("the destination's width differs from the type's");
  *offset = slot.offset;
  return true;
}

bool Decoder::predicate_source(const Operand& operand, std::uint32_t* offset) {
  if (operand.kind == Operand::Kind::integer) {
    *offset = constant(operand.bits != 0 ? kFullMask : 0, false);
    return true;
  }
  if (register_type(operand) != DataType::predicate) return malformed("expected a predicate");
  *offset = register_slot(operand.index).offset;
  if (operand.negated) {
    const std::uint32_t inverse = allocate_predicate();
    emit(Operation::predicate_not, LaneType::u32, inverse, *offset);
    *offset = inverse;
  }
  return true;
}

bool Decoder::predicate_destination(const Operand& operand, std::uint32_t* offset) {
  if (operand.kind == Operand::Kind::sink) {
    *offset = allocate_predicate();
    return true;
  }
  if (register_type(operand) != DataType::predicate) return malformed("expected a predicate");
  *offset = register_slot(operand.index).offset;
  return true;
}

LaneType Decoder::lane_type(DataType type) const {
  switch (type) {
    case DataType::s16:
      return LaneType::s16;
    case DataType::b16:
    case DataType::u16:
      return LaneType::u16;
    case DataType::s32:
      return LaneType::s32;
    case DataType::b64:
    case DataType::u64:
      return LaneType::u64;
    case DataType::s64:
      return LaneType::s64;
    case DataType::f16:
      return LaneType::f16;
    case DataType::bf16:
      return LaneType::bf16;
    case DataType::f16x2:
      return LaneType::f16x2;
    case DataType::bf16x2:
      return LaneType::bf16x2;
    case DataType::f32:
      return opcode_.has("ftz") ? LaneType::f32_flush : LaneType::f32;
    case DataType::f64:
      return LaneType::f64;
    default:
      return LaneType::u32;
  }
}

Record& Decoder::emit(Operation operation, LaneType type, std::uint32_t d, std::uint32_t a,
                      std::uint32_t b, std::uint32_t c, std::uint32_t e) {
  Record record;
  record.handler_id = handler_id(operation, type);
  record.d = d;
  record.a = a;
  record.b = b;
  record.c = c;
  record.e = e;
  record.instruction = instruction_index_;
  code_.records.push_back(record);
  return code_.records.back();
}

void Decoder::classify(InstructionClass instruction_class) {
  code_.instructions[instruction_index_].instruction_class = instruction_class;
}

}  // namespace regraph::ptx
