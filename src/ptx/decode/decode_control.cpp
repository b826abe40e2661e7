#include "ptx/decode/decoder.h"

#include <algorithm>
#include <array>

namespace regraph::ptx {

bool Decoder::decode_branch() {
  classify(InstructionClass::branch);
  const ControlFlow& flow = code_.control_flow;
  const std::uint32_t block = flow.block_of[instruction_index_];
  const auto block_of = [&](std::string_view name) {
    const std::uint32_t target = *label(name);
    return target < flow.block_of.size() ? flow.block_of[target]
                                         : static_cast<std::uint32_t>(flow.blocks.size());
  };
  if (opcode_.name() == "brx") {
    std::uint32_t index = 0;
    if (!source(operand(0), DataType::u32, &index)) return false;
    const Function::BranchTargets* table = branch_targets(operand(1).text);
    if (table != nullptr) {
      Record& record = emit(Operation::branch_indexed, LaneType::u32,
                            static_cast<std::uint32_t>(table->targets.size()), index);
      record.b = flow.blocks[block].reconvergence;
      for (std::string_view target : table->targets) {
        Record& entry = emit(Operation::nothing, LaneType::u32);
        entry.target = block_of(target);
        entry.flags = kNegated;  // marks a table entry for linking
      }
      return true;
    }
    return malformed("the table of branch targets is missing");
  }
  if (instruction_->guard < 0) {
    emit(Operation::branch, LaneType::u32).target = block_of(operand(0).text);
    return true;
  }
  Record& record = emit(Operation::branch_if, LaneType::u32, 0,
                        register_slot(static_cast<std::uint32_t>(instruction_->guard)).offset);
  record.flags = instruction_->guard_negated ? kNegated : 0;
  record.target = block_of(operand(0).text);
  record.b = flow.blocks[block].reconvergence;
  return true;
}

// barrier.cluster.arrive, barrier.cluster.wait: blocks of a cluster that exchange nothing (no
// access of shared::cluster is known here) only wait for each other, and each may as well wait for
// itself. The arrival does nothing then, as long as nothing happens between the two.
bool Decoder::decode_cluster_barrier() {
  const bool arrives = opcode_.has("arrive");
  const std::uint32_t wait = arrives ? instruction_index_ + 1 : instruction_index_;
  const auto is_barrier = [&](std::uint32_t index, std::string_view word) {
    if (index >= code_.function->instructions.size()) return false;
    const Instruction& instruction = code_.function->instructions[index];
    const Opcode opcode(instruction.mnemonic);
    return opcode.name() == "barrier" && opcode.has("cluster") && opcode.has(word) &&
           instruction.guard < 0 && instruction.operand_count == 0;
  };
  const bool is_pair = wait > 0 && is_barrier(wait - 1, "arrive") && is_barrier(wait, "wait") &&
                       std::ranges::none_of(code_.function->labels, [&](const Label& label) {
                         return label.instruction == wait;
                       });
  if (!is_pair) return unsupported("a cluster's barrier whose arrival and wait are apart");
  if (arrives) {
    emit(Operation::nothing, LaneType::u32);
  } else {
    emit(Operation::barrier, LaneType::u32).flags = kOfCluster;
  }
  return true;
}

// bar.sync a [, b]; bar.arrive a, b; bar.red.op d, a [, b], p; barrier.cta.* likewise.
bool Decoder::decode_barrier() {
  classify(InstructionClass::barrier);
  if (opcode_.has("warp")) {
    return operand_count() == 1 ? emit_exchange(Operation::sync_warp, {}, operand(0))
                                : malformed("operands");
  }
  if (opcode_.has("cluster")) return decode_cluster_barrier();
  const bool reduces = opcode_.has("red");
  const bool arrives = opcode_.has("arrive");
  const std::size_t first = reduces ? 1 : 0;
  const std::size_t numbers = operand_count() - first - (reduces ? 1 : 0);
  if (operand_count() < first + 1 || numbers < 1 || numbers > 2) return malformed("operands");
  std::uint32_t id = 0;
  std::uint32_t threads = 0;
  if (!source(operand(first), DataType::u32, &id)) return false;
  if (numbers == 2 && !source(operand(first + 1), DataType::u32, &threads)) return false;
  if (!reduces) {
    emit(arrives ? Operation::barrier_arrive : Operation::barrier, LaneType::u32, 0, id, threads);
    return true;
  }
  std::uint32_t predicate = 0;
  std::uint32_t d = 0;
  if (!predicate_source(operand(first + numbers), &predicate)) return false;
  const bool counts = opcode_.has("popc");
  if (counts ? !destination(operand(0), DataType::u32, &d)
             : !predicate_destination(operand(0), &d)) {
    return false;
  }
  Record& record = emit(Operation::barrier_reduce, LaneType::u32, d, id, threads, predicate);
  record.flags = counts ? 1 : (opcode_.has("and") ? 2 : 3);
  return true;
}

bool Decoder::decode_exchange() {
  struct Entry {
    std::string_view name;
    std::string_view mode;
    Operation operation;
  };
  static constexpr std::array<Entry, 14> kExchanges = {{
      {"shfl", "up", Operation::shuffle_up},
      {"shfl", "down", Operation::shuffle_down},
      {"shfl", "bfly", Operation::shuffle_xor},
      {"shfl", "idx", Operation::shuffle_index},
      {"vote", "all", Operation::vote_all},
      {"vote", "any", Operation::vote_any},
      {"vote", "uni", Operation::vote_uniform},
      {"vote", "ballot", Operation::vote_ballot},
      {"match", "any", Operation::match_any},
      {"match", "all", Operation::match_all},
      {"redux", "add", Operation::reduce_add_u},
      {"redux", "and", Operation::reduce_and},
      {"redux", "or", Operation::reduce_or},
      {"redux", "xor", Operation::reduce_xor},
  }};
  const std::string_view name = opcode_.name();
  classify(InstructionClass::shuffle);
  if (name == "activemask") {
    std::uint32_t d = 0;
    if (!destination(operand(0), DataType::u32, &d)) return false;
    emit(Operation::active_mask, LaneType::u32, d);
    return true;
  }
  if (name == "elect") {  // elect.sync d|p, members
    std::uint32_t d = 0;
    if (operand_count() != 2) return malformed("wrong number of operands");
    if (!destination(operand(0), DataType::u32, &d)) return false;
    const std::int32_t leader = operand(0).second;
    if (leader >= 0 &&
        code_.function->registers[static_cast<std::size_t>(leader)] != DataType::predicate) {
      return malformed("a predicate");
    }
    const std::uint32_t p = leader >= 0 ? register_slot(static_cast<std::uint32_t>(leader)).offset
                                        : allocate_predicate();
    return emit_exchange(Operation::elect, {.d = d, .e = p}, operand(1));
  }
  Operation operation = Operation::nothing;
  for (const Entry& entry : kExchanges) {
    if (entry.name == name && opcode_.has(entry.mode)) operation = entry.operation;
  }
  const auto type = opcode_.last_type();
  if (!type.has_value()) return malformed("no type");
  if (name == "redux" && opcode_.has("min")) {
    operation = *type == DataType::s32 ? Operation::reduce_min_s : Operation::reduce_min_u;
  }
  if (name == "redux" && opcode_.has("max")) {
    operation = *type == DataType::s32 ? Operation::reduce_max_s : Operation::reduce_max_u;
  }
  if (operation == Operation::nothing || (name == "redux" && is_floating(*type))) {
    return unsupported("this exchange between lanes");
  }
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t second = 0;
  if (operand(0).second >= 0) {
    const auto index = static_cast<std::uint32_t>(operand(0).second);
    if (code_.function->registers[index] != DataType::predicate) return malformed("a predicate");
    second = register_slot(index).offset;
  }
  const bool to_predicate = *type == DataType::predicate;
  const std::size_t members = name == "shfl" ? 4 : 2;
  const bool waits = name != "vote" || opcode_.has("sync");
  if (operand_count() < (waits ? members + 1 : 2)) return malformed("wrong number of operands");
  if (name == "vote") {
    if (!predicate_source(operand(1), &a)) return false;
    if (to_predicate ? !predicate_destination(operand(0), &d)
                     : !destination(operand(0), DataType::u32, &d)) {
      return false;
    }
  } else {
    const bool shuffles = name == "shfl";
    if (shuffles && !opcode_.has("sync")) return unsupported("shuffles without .sync");
    const DataType value = shuffles ? DataType::b32 : *type;
    if (!source(operand(1), value, &a)) return false;
    if (shuffles && !source(operand(2), DataType::u32, &b)) return false;
    if (shuffles && !source(operand(3), DataType::u32, &c)) return false;
    if (!destination(operand(0), DataType::b32, &d)) return false;
  }
  if (!waits) {
    emit(operation, LaneType::u32, d, a).flags = kNoMembers;
    return true;
  }
  const bool wide = name == "match" && size_in_bytes(*type) == 8;
  return emit_exchange(
      operation, {.d = d, .a = a, .b = b, .c = c, .e = second, .flags = wide ? kWideMatch : 0},
      operand(members));
}

// The exchange `operands` of the lanes that `members` names.
bool Decoder::emit_exchange(Operation operation, const Record& operands, const Operand& members) {
  std::uint32_t mask = 0;
  if (!source(members, DataType::u32, &mask)) return false;
  Record& record =
      emit(operation, LaneType::u32, operands.d, operands.a, operands.b, operands.c, operands.e);
  const bool all = members.kind == Operand::Kind::integer &&
                   static_cast<std::uint32_t>(members.bits) == kFullMask;
  record.immediate = mask;
  record.flags = operands.flags | (all ? kAllMembers : 0);
  return true;
}

bool Decoder::decode_instruction() {
  const std::string_view name = opcode_.name();
  if (name == "mov") return decode_move();
  if (name == "ld" || name == "ldu") return decode_memory(false);
  if (name == "st") return decode_memory(true);
  if (name == "cvta") return decode_address_conversion();
  if (name == "cvt") return decode_conversion();
  if (name == "setp") return decode_compare();
  if (name == "set") return decode_set();
  if (name == "selp" || name == "slct") return decode_select();
  if (name == "testp") return decode_test();
  if (name == "isspacep") return decode_space_test();
  if (name == "bra" || name == "brx") return decode_branch();
  if (name == "bar" || name == "barrier") return decode_barrier();
  if (name == "call") return decode_call();
  if (name == "atom") return decode_atomic(true);
  if (name == "red") return decode_atomic(false);
  if (name == "cp" && opcode_.modifier(0) == "async") return decode_async_copy();
  if (name == "mma") return decode_matrix_product();
  if (name == "ldmatrix") return decode_matrix_access(false);
  if (name == "stmatrix") return decode_matrix_access(true);
  if (name == "mbarrier") return decode_mbarrier();
  if (name == "tensormap") return decode_tensor_map();
  if (name == "wmma") return decode_wmma();
  if (name == "wgmma") return decode_warpgroup();
  if (name == "movmatrix") return decode_matrix_move();
  if (name == "shfl" || name == "vote" || name == "match" || name == "redux" ||
      name == "activemask" || name == "elect") {
    return decode_exchange();
  }
  if (name == "ret" || name == "exit") {
    classify(InstructionClass::branch);
    const bool returns = name == "ret" && in_callee();
    emit(returns ? Operation::return_lanes : Operation::exit_lanes, LaneType::u32);
    return true;
  }
  if (name == "trap" || name == "brkpt") {
    emit(Operation::trap, LaneType::u32);
    return true;
  }
  // What the memory of one kind of unit shows the others, at once here.
  if (name == "fence" &&
      (opcode_.modifier(0) == "proxy" || opcode_.modifier(0) == "mbarrier_init")) {
    const bool is_known = opcode_.has("async") || opcode_.has("alias") ||
                          opcode_.modifier(1).starts_with("tensormap");
    if (opcode_.has("proxy") && !is_known) return unsupported("this fence");
    emit(Operation::nothing, LaneType::u32);
    return true;
  }
  if (name == "membar" || name == "fence") {
    emit(Operation::fence, LaneType::u32);
    return true;
  }
  // Hints.
  if (name == "nanosleep" || name == "prefetch" || name == "prefetchu" || name == "pmevent" ||
      name == "discard" || name == "setmaxnreg" || name == "applypriority" ||
      name == "griddepcontrol") {
    emit(Operation::nothing, LaneType::u32);
    return true;
  }
  if (name == "addc" || name == "subc" || name == "madc") return decode_carry();
  if (name == "createpolicy") {  // how long data stays cached changes no result
    std::uint32_t d = 0;
    if (!destination(operand(0), DataType::b64, &d)) return false;
    emit(Operation::move, LaneType::u64, d, constant(0, true));
    return true;
  }
  bool known_rare = false;
  if (!decode_rare(&known_rare)) return false;
  if (known_rare) return true;
  static constexpr std::array<std::string_view, 34> kArithmetic = {
      "add",  "sub",  "mul",      "mad",  "fma",   "div", "rem", "min",   "max",
      "neg",  "abs",  "sad",      "and",  "or",    "xor", "not", "cnot",  "shl",
      "shr",  "shf",  "popc",     "clz",  "brev",  "bfe", "bfi", "bfind", "bmsk",
      "prmt", "dp4a", "copysign", "sqrt", "rsqrt", "rcp", "sin"};
  static constexpr std::array<std::string_view, 4> kFunctions = {"cos", "ex2", "lg2", "tanh"};
  for (std::string_view known : kArithmetic) {
    if (known == name) return decode_arithmetic();
  }
  for (std::string_view known : kFunctions) {
    if (known == name) return decode_arithmetic();
  }
  return unsupported("this instruction is not implemented");
}

}  // namespace regraph::ptx
