// cp.async: copied at once. Waiting for it then has nothing to do, which every correct program
// allows.
#include "ptx/decoder.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace regraph::ptx {

// cp.async.ca.shared.global [to], [from], bytes [, policy]
bool Decoder::decode_async_copy() {
  if (opcode_.has("commit_group") || opcode_.has("wait_group") || opcode_.has("wait_all")) {
    classify(InstructionClass::other);
    emit(Operation::nothing, LaneType::u32);
    return true;
  }
  if (opcode_.has("bulk") || opcode_.has("mbarrier") ||
      !(opcode_.has("shared") || opcode_.has("shared::cta")) || !opcode_.has("global")) {
    return unsupported("this kind of asynchronous copy");
  }
  const Operand& size = operand(2);
  const bool known_size =
      size.kind == Operand::Kind::integer && (size.bits == 4 || size.bits == 8 || size.bits == 16);
  const bool whole = operand_count() == 3 || opcode_.has("L2::cache_hint") ||
                     (operand(3).kind == Operand::Kind::integer && operand(3).bits == size.bits);
  if (!known_size || !whole) return unsupported("a copy of fewer bytes than its size");
  classify(InstructionClass::load_global);
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.access_bytes = static_cast<int>(size.bits);
  info.bypasses_l1 = opcode_.has("cg");
  const auto elements = static_cast<std::uint32_t>(size.bits / 4);
  std::array<std::uint32_t, 4> slots = {};
  for (std::uint32_t i = 0; i < elements; ++i)
    slots[i] = temporary(false).offset;
  for (const bool store : {false, true}) {
    Record record;
    bool narrow = false;
    if (!address_register(operand(store ? 0 : 1), &record.a, &narrow, &record.immediate))
      return false;
    record.handler_id =
        memory_handler_id(store, narrow, MemoryType::b32, std::bit_width(elements) - 1);
    record.d = slots[0];
    record.b = slots[1];
    record.c = slots[2];
    record.e = slots[3];
    record.instruction = instruction_index_;
    record.site = static_cast<std::uint32_t>(code_.sites.size());
    SiteInfo site;
    site.space = store ? StateSpace::shared : StateSpace::global;
    site.store = store;
    site.elements = static_cast<std::uint8_t>(elements);
    site.instruction = instruction_index_;
    site.counted = !store;  // the instruction counts as its global side
    code_.sites.push_back(site);
    const bool traced = !options_.trace.empty() && options_.trace[instruction_index_];
    if (traced && !store) {
      Record trace = record;
      trace.handler_id =
          handler_id(Operation::trace_access, narrow ? LaneType::u32 : LaneType::u64);
      code_.records.push_back(trace);
    }
    if (!traced || options_.execute[instruction_index_]) code_.records.push_back(record);
  }
  return true;
}

}  // namespace regraph::ptx
