#include "ptx/decode/decoder.h"

#include "ptx/decode/execution.h"
#include "ptx/decode/handler_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::ptx {
bool Decoder::fail(ErrorCode code, std::string_view what) {
  if (error_.message.empty()) {
    error_.code = code;
    error_.message =
        instruction_ == nullptr
            ? fmt::format("kernel '{}': {}", code_.function->name, what)
            : fmt::format("PTX line {}: {}: {}", instruction_->line, instruction_->mnemonic, what);
  }
  return false;
}

bool Decoder::unsupported(std::string_view what) {
  return fail(ErrorCode::unsupported, what);
}

std::optional<std::uint32_t> Decoder::label(std::string_view name) const {
  const std::vector<Label>& labels = code_.function->labels;
  const std::pair wanted(instruction_->segment, name);
  const auto found = std::lower_bound(labels.begin(), labels.end(), wanted,
                                      [](const Label& label, const auto& key) {
                                        return std::pair(label.segment, label.name) < key;
                                      });
  if (found == labels.end() || found->name != name || found->segment != instruction_->segment) {
    return std::nullopt;
  }
  return found->instruction;
}

const Function::BranchTargets* Decoder::branch_targets(std::string_view name) const {
  for (const Function::BranchTargets& table : code_.function->branch_targets) {
    if (table.segment == instruction_->segment && table.name == name) return &table;
  }
  return nullptr;
}

bool Decoder::flow_effect(const Instruction& instruction, FlowEffect& effect) {
  instruction_ = &instruction;
  const Opcode opcode(instruction.mnemonic);
  const std::string_view name = opcode.name();
  if (name == "bra") {
    const auto target = instruction.operand_count == 1 ? label(operand(0).text) : std::nullopt;
    if (!target.has_value()) return malformed("the branch target is not a label of this function");
    effect.kind = FlowEffect::Kind::branch;
    effect.conditional = instruction.guard >= 0;
    effect.targets.push_back(*target);
  } else if (name == "brx") {
    if (instruction.operand_count != 2) return malformed("expected an index and a table");
    if (instruction.guard >= 0) return unsupported("a guarded indexed branch");
    effect.kind = FlowEffect::Kind::branch;
    const Function::BranchTargets* table = branch_targets(operand(1).text);
    if (table != nullptr) {
      for (std::string_view target : table->targets) {
        const auto index = label(target);
        if (!index.has_value()) return malformed("a branch target is not a label");
        effect.targets.push_back(*index);
      }
    }
    if (effect.targets.empty()) return malformed("the table of branch targets is missing");
  } else if (name == "ret" || name == "exit") {
    // Returning from a function and leaving the kernel end a path alike.
    effect.kind = FlowEffect::Kind::exit;
    effect.conditional = instruction.guard >= 0;
  }
  return true;
}

bool Decoder::flow_effects(std::vector<FlowEffect>& effects) {
  effects.resize(code_.function->instructions.size());
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (!flow_effect(code_.function->instructions[i], effects[i])) return false;
  }
  instruction_ = nullptr;
  return true;
}

bool Decoder::decode_guarded(std::uint32_t index) {
  instruction_ = &code_.function->instructions[index];
  instruction_index_ = index;
  opcode_ = Opcode(instruction_->mnemonic);
  temporaries_used_[0] = temporaries_used_[1] = 0;
  const bool branches = opcode_.name() == "bra" || opcode_.name() == "brx";
  if (instruction_->guard < 0 || branches) return decode_instruction();
  Record& begin = emit(Operation::guard_begin, LaneType::u32, 0,
                       register_slot(static_cast<std::uint32_t>(instruction_->guard)).offset);
  begin.flags = instruction_->guard_negated ? kNegated : 0;
  begin.site = code_.guard_counters++;
  code_.instructions[index].guard_counter = static_cast<std::int32_t>(begin.site);
  const std::size_t begin_index = code_.records.size() - 1;
  if (!decode_instruction()) return false;
  emit(Operation::guard_end, LaneType::u32);
  code_.records[begin_index].target = static_cast<std::uint32_t>(code_.records.size());
  return true;
}

bool Decoder::decode_block(std::uint32_t block) {
  const BasicBlock& basic = code_.control_flow.blocks[block];
  block_records_.push_back(static_cast<std::uint32_t>(code_.records.size()));
  instruction_index_ = basic.first;
  Record& head = emit(Operation::block_head, LaneType::u32);
  head.target = block;
  head.immediate = basic.last - basic.first;
  for (std::uint32_t i = basic.first; i < basic.last; ++i) {
    if (!options_.keep.empty() && !options_.keep[i]) continue;
    if (!decode_guarded(i)) return false;
  }
  return true;
}

// Whether every operation exists for its type.
bool Decoder::check_handlers() {
  const Handler* table = handler_table(HandlerSet::baseline);
  for (const Record& record : code_.records) {
    if (table[record.handler_id] != nullptr) continue;
    instruction_ = &code_.function->instructions[record.instruction];
    return unsupported("this operation on this type is not implemented");
  }
  return true;
}

// Replaces block numbers by record numbers.
void Decoder::link() {
  const auto record_of = [&](std::uint32_t block) {
    return block < block_records_.size() ? block_records_[block] : block_records_.back();
  };
  for (Record& record : code_.records) {
    const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
    const bool table_entry = operation == Operation::nothing && record.flags == kNegated;
    if (operation != Operation::branch && operation != Operation::branch_if &&
        operation != Operation::branch_indexed && !table_entry) {
      continue;
    }
    record.target = record_of(record.target);
    if (operation == Operation::branch_if || operation == Operation::branch_indexed) {
      record.c = record.b == kNoBlock ? 0 : record_of(record.b);
    }
  }
  for (CallSite& call : code_.calls) {
    for (CallSite::Target& target : call.targets) {
      const std::uint32_t first = code_.segments[target.segment].first_instruction;
      target.record = record_of(code_.control_flow.block_of[first]);
    }
  }
}

bool Decoder::decode() {
  const Function& function = *code_.function;
  if (function.instructions.empty()) {
    return fail(ErrorCode::parse, "the kernel has no instructions");
  }
  place_parameters();
  if (!place_variables() || !place_frames()) return false;
  std::vector<FlowEffect> effects;
  if (!flow_effects(effects)) return false;
  std::vector<std::uint32_t> entries;
  for (const Segment& segment : code_.segments)
    entries.push_back(segment.first_instruction);
  code_.control_flow = analyse_control_flow(effects, entries);
  registers_.resize(function.registers.size());
  allocation_ = allocate_registers(function, code_.control_flow, code_.segments);
  code_.instructions.resize(function.instructions.size());
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    InstructionInfo& info = code_.instructions[i];
    info.mnemonic = function.instructions[i].mnemonic;
    info.line = function.instructions[i].line;
    info.source_line = function.instructions[i].source_line;
    info.block = code_.control_flow.block_of[i];
  }
  // Offset 0 is never a register, so that 0 can mean "no operand".
  code_.register_bytes = 64;
  for (std::uint32_t b = 0; b < code_.control_flow.blocks.size(); ++b) {
    if (!decode_block(b)) return false;
  }
  if (!check_handlers()) return false;
  instruction_ = nullptr;
  // Falling off the end returns.
  block_records_.push_back(static_cast<std::uint32_t>(code_.records.size()));
  instruction_index_ = static_cast<std::uint32_t>(function.instructions.size()) - 1;
  emit(Operation::exit_lanes, LaneType::u32);
  for (const SiteInfo& site : code_.sites) {
    if (!site.strong) continue;
    if (site.space == StateSpace::global || site.space == StateSpace::generic) {
      code_.has_global_atomics = true;
    }
    const std::uint32_t block = code_.control_flow.block_of[site.instruction];
    code_.may_spin = code_.may_spin || code_.control_flow.blocks[block].loop_depth > 0;
  }
  link();
  mark_mergeable();
  const std::vector<AtomicTraits> atomics = atomic_traits(function);
  for (std::size_t i = 0; i < atomics.size(); ++i)
    code_.instructions[i].atomic = atomics[i];
  return true;
}

// ptxas joins neighbouring accesses of one base register whose offsets adjoin.
void Decoder::mark_mergeable() {
  const Record* previous = nullptr;
  for (const Record& record : code_.records) {
    if (record.handler_id < kArithmeticHandlers) {
      const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
      if (operation == Operation::block_head || operation == Operation::barrier) previous = nullptr;
      continue;
    }
    const SiteInfo& site = code_.sites[record.site];
    if (previous != nullptr && previous->a == record.a) {
      const SiteInfo& other = code_.sites[previous->site];
      const std::int64_t bytes = site.element_bytes * site.elements;
      const std::int64_t distance = record.immediate - previous->immediate;
      code_.instructions[record.instruction].mergeable_with_previous =
          site.space == other.space && site.store == other.store &&
          site.element_bytes == other.element_bytes && site.elements == other.elements &&
          (distance == bytes || distance == -bytes);
    }
    previous = &record;
  }
}

Result<std::shared_ptr<const Program::Code>> decode(std::shared_ptr<const Module> module,
                                                    std::string_view entry,
                                                    const DecodeOptions& options) {
  const auto code = std::make_shared<Program::Code>();
  code->module = std::move(module);
  for (const Function& function : code->module->functions) {
    if (function.is_entry && function.has_body && function.name == entry) {
      code->function = &function;
    }
  }
  if (code->function == nullptr) {
    std::string known;
    for (const Function& function : code->module->functions) {
      if (!function.is_entry) continue;
      if (!known.empty()) known += ", ";
      known += function.name.substr(0, 100);
      if (known.size() > 500) break;
    }
    return fail(ErrorCode::not_found,
                fmt::format("the PTX has no entry '{}'; it has: {}", entry, known));
  }
  Result<LinkedFunction> linked = link_functions(code->module, *code->function);
  if (!linked.ok()) return linked.error();
  code->owned_function = std::move(linked->function);
  code->function = code->owned_function.get();
  code->segments = std::move(linked->segments);
  code->addressed = std::move(linked->addressed);
  Decoder decoder(*code, options);
  if (!decoder.decode()) return decoder.error();
  return std::shared_ptr<const Program::Code>(code);
}

}  // namespace regraph::ptx
