// cp.async: global memory is read at once, shared memory is written as late as a thread may count
// on it: when it waits for the copy's group. Whoever reads earlier finds what was there before.
#include "ptx/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace regraph::ptx {

// cp.async.commit_group; cp.async.wait_group n; cp.async.wait_all
bool Decoder::decode_copy_group() {
  classify(InstructionClass::other);
  if (opcode_.has("commit_group")) {
    emit(Operation::copies_committed, LaneType::u32);
    return true;
  }
  if (opcode_.has("wait_all")) {
    emit(Operation::copies_awaited, LaneType::u32).immediate = kAllCopies;
    return true;
  }
  if (operand_count() != 1 || operand(0).kind != Operand::Kind::integer) {
    return malformed("expected a number of groups");
  }
  constexpr std::uint64_t kMost = 1U << 30;
  emit(Operation::copies_awaited, LaneType::u32).immediate =
      static_cast<std::int64_t>(std::min(operand(0).bits, kMost));
  return true;
}

// cp.async.ca.shared.global [to], [from], bytes [, policy]
bool Decoder::decode_async_copy() {
  if (opcode_.modifier(1) == "bulk") return decode_bulk_copy();
  if (opcode_.modifier(1) == "mbarrier") return decode_copies_arrive();
  if (opcode_.has("commit_group") || opcode_.has("wait_group") || opcode_.has("wait_all")) {
    return decode_copy_group();
  }
  if (!(opcode_.has("shared") || opcode_.has("shared::cta")) || !opcode_.has("global")) {
    return unsupported("this kind of asynchronous copy");
  }
  const Operand& size = operand(2);
  const bool known_size =
      size.kind == Operand::Kind::integer && (size.bits == 4 || size.bits == 8 || size.bits == 16);
  if (!known_size) return unsupported("a copy of this size");
  // [to], [from], size [, bytes to read] [, cache policy]; the rest is filled with zeros.
  const std::size_t policies = opcode_.has("L2::cache_hint") ? 1 : 0;
  const Operand& read = operand(operand_count() == 4 + policies ? 3 : operand_count());
  const bool whole = read.kind == Operand::Kind::sink ||
                     (read.kind == Operand::Kind::integer && read.bits == size.bits);
  // Then nothing need be at the address.
  const bool reads_nothing = read.kind == Operand::Kind::integer && read.bits == 0;
  if (register_type(read) == DataType::predicate) {
    return unsupported("a copy that a predicate turns into zeros");
  }
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
        store ? handler_id(Operation::copy_to_shared, LaneType::u32)
              : memory_handler_id(false, narrow, MemoryType::b32, std::bit_width(elements) - 1);
    record.flags = narrow ? kCopyNarrowAddress : 0;
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
    if (traced && !store && !reads_nothing) {
      Record trace = record;
      trace.handler_id =
          handler_id(Operation::trace_access, narrow ? LaneType::u32 : LaneType::u64);
      if (!decode_trace_of_copy(read, whole, trace)) return false;
    }
    if (traced && !options_.execute[instruction_index_]) continue;
    if (store || whole) {
      code_.records.push_back(record);
    } else if (!decode_partial_copy(read, record, slots, elements)) {
      return false;
    }
  }
  return true;
}

// A lane that reads nothing accesses nothing; one that reads a part counts as if it read all.
bool Decoder::decode_trace_of_copy(const Operand& bytes, bool whole, const Record& trace) {
  if (whole) {
    code_.records.push_back(trace);
    return true;
  }
  std::uint32_t count = 0;
  if (!source(bytes, DataType::u32, &count)) return false;
  const std::uint32_t saved = allocate_predicate();
  const std::uint32_t reads = allocate_predicate();
  emit(Operation::greater, LaneType::u32, reads, count, constant(0, false));
  const std::size_t begin = code_.records.size();
  emit(Operation::narrow_lanes, LaneType::u32, saved, reads);
  code_.records.push_back(trace);
  emit(Operation::restore_lanes, LaneType::u32, saved);
  code_.records[begin].target = static_cast<std::uint32_t>(code_.records.size());
  return true;
}

// Lanes that read all bytes load them at once; the others load word by word what they may and fill
// the rest with zeros. A last partial word is loaded whole.
bool Decoder::decode_partial_copy(const Operand& bytes, const Record& load,
                                  const std::array<std::uint32_t, 4>& slots,
                                  std::uint32_t elements) {
  std::uint32_t count = 0;
  if (!source(bytes, DataType::u32, &count)) return false;
  const std::uint32_t saved = allocate_predicate();
  const std::uint32_t chosen = allocate_predicate();
  const auto among = [&](std::uint32_t negated, const Record& record) {
    const std::size_t begin = code_.records.size();
    emit(Operation::narrow_lanes, LaneType::u32, saved, chosen).flags = negated;
    code_.records.push_back(record);
    emit(Operation::restore_lanes, LaneType::u32, saved);
    code_.records[begin].target = static_cast<std::uint32_t>(code_.records.size());
  };
  for (std::uint32_t i = 0; i < elements; ++i)
    emit(Operation::move, LaneType::u32, slots[i], constant(0, false));
  emit(Operation::greater_equal, LaneType::u32, chosen, count, constant(elements * 4, false));
  among(0, load);
  const bool narrow = (load.handler_id - kArithmeticHandlers) / (kMemoryTypes * 3) % 2 == 1;
  const std::uint32_t all = allocate_predicate();
  const std::uint32_t rest = temporary(false).offset;
  const std::uint32_t mask = temporary(false).offset;
  emit(Operation::less, LaneType::u32, all, count, constant(elements * 4, false));
  for (std::uint32_t i = 0; i < elements; ++i) {
    emit(Operation::greater, LaneType::u32, chosen, count, constant(4 * i, false));
    emit(Operation::predicate_and, LaneType::u32, chosen, chosen, all);
    Record word = load;
    word.handler_id = memory_handler_id(false, narrow, MemoryType::b32, 0);
    word.d = slots[i];
    word.immediate = load.immediate + 4 * static_cast<std::int64_t>(i);
    word.site = static_cast<std::uint32_t>(code_.sites.size());
    SiteInfo site = code_.sites[load.site];
    site.elements = 1;
    site.counted = false;
    code_.sites.push_back(site);
    among(0, word);
    // Keep 8 * (count - 4 i) bits where the word is not whole.
    emit(Operation::sub, LaneType::u32, rest, count, constant(4 * i, false));
    emit(Operation::shift_left, LaneType::u32, rest, rest, constant(3, false));
    emit(Operation::bit_field_mask, LaneType::u32, mask, constant(0, false), rest);
    emit(Operation::greater, LaneType::u32, chosen, count, constant(4 * i, false));
    const std::uint32_t kept = temporary(false).offset;
    emit(Operation::bit_and, LaneType::u32, kept, slots[i], mask);
    emit(Operation::select, LaneType::u32, slots[i], kept, constant(0, false), chosen);
  }
  return true;
}

}  // namespace regraph::ptx
