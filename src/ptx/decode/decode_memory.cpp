#include "ptx/decode/atomic_operation.h"
#include "ptx/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace regraph::ptx {
namespace {

MemoryType memory_type(DataType type) {
  switch (size_in_bytes(type)) {
    case 1:
      return type == DataType::s8 ? MemoryType::s8 : MemoryType::u8;
    case 2:
      return type == DataType::s16 ? MemoryType::s16 : MemoryType::u16;
    case 8:
      return MemoryType::b64;
    default:
      return MemoryType::b32;
  }
}

// What the access means to other threads.
void order_site(const Opcode& opcode, SiteInfo& site) {
  site.acquires = opcode.has("acquire") || opcode.has("acq_rel");
  site.releases = opcode.has("release") || opcode.has("acq_rel");
  site.strong = site.atomic || site.acquires || site.releases || opcode.has("relaxed") ||
                opcode.has("volatile") || opcode.has("cv") || opcode.has("mmio");
  site.read_only = opcode.has("nc");
}

}  // namespace

std::optional<StateSpace> space_of(const Opcode& opcode) {
  for (std::size_t i = 0; i < opcode.modifier_count(); ++i) {
    const std::string_view word = opcode.modifier(i);
    if (word == "global") return StateSpace::global;
    if (word == "shared" || word == "shared::cta") return StateSpace::shared;
    if (word == "local") return StateSpace::local;
    if (word == "const") return StateSpace::constant;
    if (word == "param" || word == "param::entry" || word == "param::func") {
      return StateSpace::parameter;
    }
    if (word == "shared::cluster") return std::nullopt;
  }
  return StateSpace::generic;
}

InstructionClass access_class(bool store, StateSpace space) {
  switch (space) {
    case StateSpace::shared:
      return store ? InstructionClass::store_shared : InstructionClass::load_shared;
    case StateSpace::local:
      return store ? InstructionClass::store_local : InstructionClass::load_local;
    case StateSpace::constant:
    case StateSpace::parameter:
      return InstructionClass::load_constant;
    default:
      return store ? InstructionClass::store_global : InstructionClass::load_global;
  }
}

// The base register of an address, the constant added to it and whether it is 32 bits wide.
bool Decoder::address_register(const Operand& address, std::uint32_t* offset, bool* narrow,
                               std::int64_t* displacement) {
  if (address.kind != Operand::Kind::address) return malformed("expected an address");
  const Operand base = code_.function->elements[address.index];
  *displacement = address.offset;
  *narrow = false;
  if (base.kind == Operand::Kind::reg) {
    if (code_.function->registers[base.index] == DataType::predicate) {
      return malformed("a predicate as an address");
    }
    const Slot slot = register_slot(base.index);
    *offset = slot.offset;
    *narrow = !slot.wide;
    return true;
  }
  return source(base, DataType::u64, offset);
}

bool Decoder::decode_parameter_load(const Operand& address, DataType type, int elements) {
  const Operand base = code_.function->elements[address.index];
  const auto placed = placed_.find(base.index);
  classify(InstructionClass::move);
  const std::uint64_t bytes = size_in_bytes(type);
  std::uint64_t offset = placed->second.second + static_cast<std::uint64_t>(address.offset);
  for (int i = 0; i < elements; ++i, offset += bytes) {
    Operand target = operand(0);
    if (target.kind == Operand::Kind::list &&
        !list_element(operand(0), static_cast<std::size_t>(i), &target)) {
      return malformed("too few destinations");
    }
    if (offset > code_.parameter_bytes || bytes > code_.parameter_bytes - offset) {
      return malformed("reads beyond the kernel's parameters");
    }
    if (target.kind == Operand::Kind::sink) continue;
    const auto held = register_type(target);
    if (!held.has_value() || *held == DataType::predicate)
      return malformed("no destination register");
    const Slot slot = register_slot(target.index);
    const std::uint32_t value = allocate(slot.wide).offset;
    code_.parameter_slots.push_back({value, static_cast<std::uint32_t>(offset),
                                     static_cast<std::uint8_t>(bytes), is_signed_integer(type),
                                     slot.wide});
    emit(Operation::move, slot.wide ? LaneType::u64 : LaneType::u32, slot.offset, value);
  }
  return true;
}

bool Decoder::decode_access(bool store, StateSpace space, const Operand& address,
                            const Operand& values, DataType type, int elements, int first_element) {
  std::uint32_t base = 0;
  bool narrow = false;
  std::int64_t displacement = 0;
  if (!address_register(address, &base, &narrow, &displacement)) return false;
  const bool wide = size_in_bytes(type) == 8;
  std::array<std::uint32_t, 4> slots = {};
  std::array<std::pair<std::uint32_t, std::uint32_t>, 4> widened = {};  // destination, temporary
  for (int i = 0; i < elements; ++i) {
    Operand value = values;
    const auto index = static_cast<std::size_t>(i);
    if (values.kind == Operand::Kind::list &&
        !list_element(values, index + static_cast<std::size_t>(first_element), &value)) {
      return malformed("the vector has too few elements");
    }
    if (store) {
      if (!source(value, wide ? type : DataType::b32, &slots[index])) return false;
    } else if (value.kind == Operand::Kind::reg && register_slot(value.index).wide && !wide) {
      // A destination wider than the type is extended.
      slots[index] = temporary(false).offset;
      widened[index] = {register_slot(value.index).offset, slots[index]};
    } else if (!destination(value, wide ? type : DataType::b32, &slots[index])) {
      return false;
    }
  }
  Record record;
  record.handler_id = memory_handler_id(store, narrow, memory_type(type),
                                        std::bit_width(static_cast<unsigned>(elements)) - 1);
  record.d = slots[0];
  record.b = slots[1];
  record.c = slots[2];
  record.e = slots[3];
  record.a = base;
  record.immediate = displacement + first_element * static_cast<std::int64_t>(size_in_bytes(type));
  record.instruction = instruction_index_;
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  if (!options_.trace.empty() && options_.trace[instruction_index_]) {
    Record trace = record;
    trace.handler_id = handler_id(Operation::trace_access, narrow ? LaneType::u32 : LaneType::u64);
    code_.records.push_back(trace);
  }
  const bool traced = !options_.trace.empty() && options_.trace[instruction_index_];
  if (!traced || options_.execute[instruction_index_]) code_.records.push_back(record);
  SiteInfo site;
  site.space = space;
  site.store = store;
  order_site(opcode_, site);
  site.element_bytes = static_cast<std::uint8_t>(size_in_bytes(type));
  site.elements = static_cast<std::uint8_t>(elements);
  site.instruction = instruction_index_;
  code_.sites.push_back(site);
  for (const auto& [target, temporary] : widened) {
    if (target == 0) continue;
    emit(is_signed_integer(type) ? Operation::from_s32 : Operation::from_u32, LaneType::u64, target,
         temporary);
  }
  return true;
}

bool Decoder::decode_memory(bool store) {
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  if (*type == DataType::b128 || *type == DataType::predicate) return unsupported("this type");
  auto space = space_of(opcode_);
  if (!space.has_value()) return unsupported("this address space");
  const Operand& address = operand(store ? 0 : 1);
  if (address.kind != Operand::Kind::address) return malformed("expected an address");
  const int elements = opcode_.vector_length();
  const Operand& base = code_.function->elements[address.index];
  bool in_registers = false;  // of the machine code, by its calling convention
  const std::size_t first_site = code_.sites.size();
  if (*space == StateSpace::parameter) {
    const auto placed =
        base.kind == Operand::Kind::variable ? placed_.find(base.index) : placed_.end();
    const bool of_kernel = placed != placed_.end() && placed->second.first == StateSpace::parameter;
    if (of_kernel && !store) return decode_parameter_load(address, *type, elements);
    // Arguments and results of calls lie in the frame.
    if (placed != placed_.end() ? !of_kernel : in_callee()) space = StateSpace::local;
    in_registers = *space == StateSpace::local;
  }
  if (store && (*space == StateSpace::constant || *space == StateSpace::parameter)) {
    return unsupported("a store to this address space");
  }
  classify(access_class(store, *space));
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.access_bytes = static_cast<int>(size_in_bytes(*type)) * elements;
  info.reads_only_cache = opcode_.has("nc");
  info.bypasses_l1 = opcode_.has("cg") || opcode_.has("cv") || opcode_.has("volatile") ||
                     opcode_.has("relaxed") || opcode_.has("acquire") ||
                     opcode_.has("L1::no_allocate");
  const int most = 4;
  for (int first = 0; first < elements; first += most) {
    if (!decode_access(store, *space, address, operand(store ? 1 : 0), *type,
                       std::min(elements, most), first))
      return false;
  }
  if (in_registers) {
    classify(InstructionClass::move);
    info.access_bytes = 0;
    for (std::size_t i = first_site; i < code_.sites.size(); ++i)
      code_.sites[i].counted = false;
  }
  return true;
}

// atom.global.add.u32 d, [a], b [, c];  red without d. Both take vectors: atom.global.add.v4.f32.
bool Decoder::decode_atomic(bool returns) {
  const auto type = opcode_.last_type();
  auto space = space_of(opcode_);
  if (!type.has_value() || !space.has_value()) return unsupported("this atomic");
  const auto operation = atomic_operation(opcode_, *type);
  if (!operation.has_value()) return unsupported("this atomic");
  const int elements = opcode_.vector_length();
  if (elements > 1) {
    if (*space == StateSpace::generic) space = StateSpace::global;  // there are no others
    if (*space != StateSpace::global || !is_vector_atomic(*operation, *type, elements))
      return unsupported("this atomic");
  }
  const bool shared = *space == StateSpace::shared;
  classify(shared ? InstructionClass::atomic_shared : InstructionClass::atomic_global);
  if (!shared) code_.has_global_atomics = true;
  code_.instructions[instruction_index_].access_bytes =
      static_cast<int>(size_in_bytes(*type)) * elements;
  SiteInfo site;
  site.space = *space;
  site.store = true;
  site.atomic = true;
  order_site(opcode_, site);
  site.element_bytes = static_cast<std::uint8_t>(size_in_bytes(*type));
  site.instruction = instruction_index_;
  return elements > 1 ? decode_atomic_vector(returns, site, *type, *operation, elements)
                      : decode_atomic_element(returns, site, *type, *operation, 0, nullptr);
}

// The elements of a vector are atomic each on its own, but one request of the hardware's, which has
// to be aligned as a whole.
bool Decoder::decode_atomic_vector(bool returns, const SiteInfo& element, DataType type,
                                   AtomicOperation operation, int elements) {
  SiteInfo whole = element;
  whole.elements = static_cast<std::uint8_t>(elements);
  Record request;
  bool narrow = false;
  if (!address_register(operand(returns ? 1 : 0), &request.a, &narrow, &request.immediate))
    return false;
  const LaneType address = narrow ? LaneType::u32 : LaneType::u64;
  request.instruction = instruction_index_;
  request.site = static_cast<std::uint32_t>(code_.sites.size());
  code_.sites.push_back(whole);
  const bool traced = !options_.trace.empty() && options_.trace[instruction_index_];
  request.handler_id =
      handler_id(traced ? Operation::trace_access : Operation::check_access, address);
  code_.records.push_back(request);
  if (traced && !options_.execute[instruction_index_]) return true;
  SiteInfo one = element;
  one.counted = false;
  // Old values go to their registers last: the operands may lie in the same.
  std::array<std::uint32_t, kMostVectorElements> old = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    old[i] = returns ? temporary(false).offset : 0;
    if (!decode_atomic_element(returns, one, type, operation, i, returns ? &old[i] : nullptr))
      return false;
  }
  for (std::size_t i = 0; returns && i < static_cast<std::size_t>(elements); ++i) {
    Operand target;
    std::uint32_t d = 0;
    if (!list_element(operand(0), i, &target) || !destination(target, type, &d))
      return malformed("the vector has too few elements");
    emit(Operation::move, LaneType::u32, d, old[i]);
  }
  return true;
}

// `old`: where the element of a vector leaves its old value; the operand says it of a scalar.
bool Decoder::decode_atomic_element(bool returns, const SiteInfo& site, DataType type,
                                    AtomicOperation operation, std::size_t index,
                                    const std::uint32_t* old) {
  const std::size_t first = returns ? 1 : 0;
  std::uint32_t base = 0;
  bool narrow = false;
  std::int64_t displacement = 0;
  if (!address_register(operand(first), &base, &narrow, &displacement)) return false;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = old != nullptr ? *old : 0;
  Operand value = operand(first + 1);
  if (opcode_.vector_length() > 1 && !list_element(operand(first + 1), index, &value))
    return malformed("the vector has too few elements");
  if (!source(value, type, &b)) return false;
  if (operation == AtomicOperation::compare_and_swap && !source(operand(first + 2), type, &c))
    return false;
  if (returns && old == nullptr && !destination(operand(0), type, &d)) return false;
  Record& record = emit(Operation::atomic, LaneType::u32, d, base, b, c);
  record.e = static_cast<std::uint32_t>(operation);
  record.flags = (narrow ? kAtomicNarrowAddress : 0) |
                 (static_cast<std::uint32_t>(lane_type(type)) << kAtomicTypeShift);
  record.immediate = displacement + static_cast<std::int64_t>(index * size_in_bytes(type));
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  code_.sites.push_back(site);
  if (site.counted && !options_.trace.empty() && options_.trace[instruction_index_]) {
    const Record executed = record;
    record.handler_id = handler_id(Operation::trace_access, narrow ? LaneType::u32 : LaneType::u64);
    if (options_.execute[instruction_index_]) code_.records.push_back(executed);
  }
  return true;
}

}  // namespace regraph::ptx
