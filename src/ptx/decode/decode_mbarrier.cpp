// mbarrier.*, cp.async.mbarrier.arrive and bulk copies. A block is alone in its cluster, so that
// shared::cluster is its own shared memory.
#include "ptx/decode/decoder.h"

namespace regraph::ptx {

bool Decoder::named_address(const Operand& operand, NamedAddress* to) {
  return address_register(operand, &to->offset, &to->narrow, &to->displacement);
}

namespace {

SiteInfo site_of(StateSpace space, bool store, std::uint8_t elements, std::uint32_t instruction) {
  SiteInfo site;
  site.space = space;
  site.store = store;
  site.elements = elements;
  site.instruction = instruction;
  site.counted = space == StateSpace::global;
  return site;
}

}  // namespace

// Of the mbarrier at the address in `address`; `value` and `d` may be missing (0).
bool Decoder::emit_mbarrier(MbarrierAction action, const Operand& address, std::uint32_t value,
                            std::uint32_t d, std::uint32_t flags) {
  NamedAddress at;
  if (!named_address(address, &at)) return false;
  Record& record = emit(Operation::mbarrier, LaneType::u32, d, at.offset, value);
  record.e = static_cast<std::uint32_t>(action);
  record.flags = flags | (at.narrow ? kMbarrierNarrowAddress : 0);
  record.immediate = at.displacement;
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  // Named without .shared it is a generic address of shared memory all the same.
  code_.sites.push_back(site_of(StateSpace::shared, true, 2, instruction_index_));
  return true;
}

// mbarrier.test_wait[.parity].b64 p, [a], state; try_wait likewise, with a time to wait behind.
bool Decoder::decode_mbarrier_test(std::uint32_t flags) {
  const bool suspends = opcode_.modifier(0) == "try_wait";
  const bool by_parity = opcode_.has("parity");
  if (operand_count() != 3 && !(suspends && operand_count() == 4)) {
    return malformed("wrong number of operands");
  }
  std::uint32_t value = 0;
  std::uint32_t p = 0;
  if (!source(operand(2), by_parity ? DataType::b32 : DataType::b64, &value) ||
      !predicate_destination(operand(0), &p)) {
    return false;
  }
  // Somebody else arrives while this warp asks again and again.
  const std::uint32_t block = code_.control_flow.block_of[instruction_index_];
  code_.may_spin = code_.may_spin || code_.control_flow.blocks[block].loop_depth > 0;
  return emit_mbarrier(by_parity ? MbarrierAction::test_parity : MbarrierAction::test, operand(1),
                       value, p, flags | (suspends ? kMbarrierSuspends : 0));
}

// mbarrier.arrive[_drop][.expect_tx | .noComplete].b64 state, [a] [, count or bytes]
bool Decoder::decode_mbarrier_arrive(std::uint32_t flags) {
  const bool expects = opcode_.has("expect_tx");
  const bool incomplete = opcode_.has("noComplete");
  if (opcode_.modifier(0) == "arrive_drop") flags |= kMbarrierDrops;
  // The state may be left out where it is not returned.
  const std::size_t first = operand(0).kind == Operand::Kind::address ? 0 : 1;
  const std::size_t values = operand_count() - first - 1;
  if (operand_count() < first + 1 || values > 1 || ((expects || incomplete) && values != 1))
    return malformed("wrong number of operands");
  std::uint32_t value = constant(1, false);
  std::uint32_t state = 0;
  if (values == 1 && !source(operand(first + 1), DataType::b32, &value)) return false;
  if (first == 1 && !destination(operand(0), DataType::b64, &state)) return false;
  const MbarrierAction action = expects      ? MbarrierAction::arrive_expecting
                                : incomplete ? MbarrierAction::arrive_incomplete
                                             : MbarrierAction::arrive;
  return emit_mbarrier(action, operand(first), value, state, flags);
}

bool Decoder::decode_mbarrier() {
  classify(InstructionClass::other);
  const std::string_view what = opcode_.modifier(0);
  if (!opcode_.has("b64") || opcode_.has("multicast::cluster"))
    return unsupported("this instruction on an mbarrier");
  const std::uint32_t flags = opcode_.has("relaxed") ? kMbarrierRelaxed : 0;
  if (what == "arrive" || what == "arrive_drop") return decode_mbarrier_arrive(flags);
  if (what == "test_wait" || what == "try_wait") return decode_mbarrier_test(flags);
  if (what == "inval") {
    if (operand_count() != 1) return malformed("wrong number of operands");
    return emit_mbarrier(MbarrierAction::invalidate, operand(0), 0, 0, flags);
  }
  if (operand_count() != 2) return malformed("wrong number of operands");
  std::uint32_t value = 0;
  if (what == "pending_count") {  // of a state
    std::uint32_t d = 0;
    if (!source(operand(1), DataType::b64, &value) || !destination(operand(0), DataType::b32, &d)) {
      return false;
    }
    const std::uint32_t shifted = temporary(true).offset;
    emit(Operation::shift_right, LaneType::u64, shifted, value,
         constant(Mbarrier::kPendingShift, false));
    emit(Operation::from_u64, LaneType::u32, d, shifted);
    emit(Operation::bit_and, LaneType::u32, d, d, constant(Mbarrier::kMostArrivals, false));
    return true;
  }
  const bool known = what == "init" || what == "expect_tx" || what == "complete_tx";
  if (!known) return unsupported("this instruction on an mbarrier");
  if (!source(operand(1), DataType::b32, &value)) return false;
  return emit_mbarrier(what == "init"        ? MbarrierAction::init
                       : what == "expect_tx" ? MbarrierAction::expect_bytes
                                             : MbarrierAction::complete_bytes,
                       operand(0), value, 0, flags);
}

// cp.async.mbarrier.arrive[.noinc].b64 [a]: an arrival when the thread's copies have arrived, which
// is at once. Without .noinc it was expected one moment before.
bool Decoder::decode_copies_arrive() {
  classify(InstructionClass::other);
  if (!opcode_.has("arrive") || !opcode_.has("b64")) return unsupported("this instruction");
  if (operand_count() != 1) return malformed("wrong number of operands");
  emit(Operation::copies_awaited, LaneType::u32).immediate = kAllCopies;
  return emit_mbarrier(MbarrierAction::copies_arrive, operand(0),
                       constant(opcode_.has("noinc") ? 1 : 0, false), 0, 0);
}

// cp.async.bulk.commit_group; cp.async.bulk.wait_group[.read] n
bool Decoder::decode_bulk_group() {
  classify(InstructionClass::other);
  if (opcode_.has("commit_group")) {
    emit(Operation::asynchronous_committed, LaneType::u32).flags = kStoreAgent;
    return true;
  }
  if (operand_count() != 1 || operand(0).kind != Operand::Kind::integer)
    return malformed("expected a number of groups");
  Record& waits = emit(Operation::asynchronous_awaited, LaneType::u32);
  waits.flags = kStoreAgent;
  waits.immediate = static_cast<std::int64_t>(operand(0).bits & 0xffffU);
  return true;
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], size
bool Decoder::decode_bulk_copy() {
  if (opcode_.has("commit_group") || opcode_.has("wait_group")) return decode_bulk_group();
  if (opcode_.modifier(2) == "tensor") return decode_tensor_copy();
  if (opcode_.modifier(2) == "prefetch") {
    emit(Operation::nothing, LaneType::u32);
    return true;
  }
  const std::string_view to = opcode_.modifier(2);
  const std::string_view from = opcode_.modifier(3);
  const std::string_view end = opcode_.modifier(4);
  const bool hinted = opcode_.has("L2::cache_hint");
  BulkCopy copy;
  copy.to_shared = (to == "shared::cluster" || to == "shared::cta") && from == "global" &&
                   end == "mbarrier::complete_tx::bytes";
  const bool to_global = to == "global" && from == "shared::cta" && end == "bulk_group";
  if ((!copy.to_shared && !to_global) || opcode_.modifier_count() != (hinted ? 6U : 5U))
    return unsupported("this kind of bulk copy");
  if (operand_count() != (copy.to_shared ? 4U : 3U) + (hinted ? 1U : 0U))
    return malformed("wrong number of operands");
  if (!named_address(operand(copy.to_shared ? 0 : 1), &copy.shared) ||
      !named_address(operand(copy.to_shared ? 1 : 0), &copy.global) ||
      !source(operand(2), DataType::b32, &copy.size) ||
      (copy.to_shared && !named_address(operand(3), &copy.mbarrier))) {
    return false;
  }
  emit_bulk_copy(copy);
  return true;
}

void Decoder::emit_bulk_copy(const BulkCopy& wanted) {
  BulkCopy copy = wanted;
  copy.addresses = temporary(true).offset;
  classify(copy.to_shared ? InstructionClass::load_global : InstructionClass::store_global);
  InstructionInfo& info = code_.instructions[instruction_index_];
  info.access_bytes = 16;  // of each of 32 lanes: as a warp would copy
  info.bypasses_l1 = true;
  const bool traced = !options_.trace.empty() && options_.trace[instruction_index_];
  Record& record = emit(Operation::bulk_copy, LaneType::u32);
  record.e = static_cast<std::uint32_t>(code_.bulk_copies.size());
  record.flags = (traced ? kBulkReports : 0) |
                 (!traced || options_.execute[instruction_index_] ? kBulkCopies : 0);
  record.site = static_cast<std::uint32_t>(code_.sites.size());
  code_.bulk_copies.push_back(copy);
  code_.sites.push_back(site_of(StateSpace::global, !copy.to_shared, 4, instruction_index_));
  code_.sites.push_back(site_of(StateSpace::shared, copy.to_shared, 4, instruction_index_));
}

}  // namespace regraph::ptx
