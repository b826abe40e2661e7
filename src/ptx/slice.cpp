#include "ptx/slice.h"

#include "ptx/opcode.h"

#include <fmt/format.h>

namespace regraph::ptx {
namespace {

enum class Role : std::uint8_t { plain, load, store, atomic, control };

struct Effect {
  Role role = Role::plain;
  bool global = false;       // may touch global memory
  bool block_local = false;  // may touch shared or local memory
  std::vector<std::uint32_t> defines;
  std::vector<std::uint32_t> uses;       // all registers read
  std::vector<std::uint32_t> addresses;  // those inside [ ]
};

class Effects {
 public:
  explicit Effects(const Function& function) : function_(function) {}

  [[nodiscard]] Effect of(const Instruction& instruction) const {
    Effect effect;
    const Opcode opcode(instruction.mnemonic);
    const std::string_view name = opcode.name();
    const bool returns =
        !(name == "st" || name == "red" || name == "bra" || name == "brx" || name == "ret" ||
          name == "exit" || name == "membar" || name == "fence" || name == "call" ||
          name == "prefetch" || ((name == "bar" || name == "barrier") && !opcode.has("red")));
    if (name == "ld" || name == "ldu") effect.role = Role::load;
    if (name == "st") effect.role = Role::store;
    if (name == "atom" || name == "red") effect.role = Role::atomic;
    if (name == "bra" || name == "brx" || name == "ret" || name == "exit" || name == "bar" ||
        name == "barrier") {
      effect.role = Role::control;
    }
    if (effect.role == Role::load || effect.role == Role::store || effect.role == Role::atomic) {
      const bool block_local =
          opcode.has("shared") || opcode.has("shared::cta") || opcode.has("local");
      const bool fixed = opcode.has("const") || opcode.has("param") || opcode.has("param::entry");
      effect.global = !block_local && !fixed;
      const bool generic = effect.global && !opcode.has("global");
      effect.block_local = block_local || generic;
    }
    if (instruction.guard >= 0) {
      effect.uses.push_back(static_cast<std::uint32_t>(instruction.guard));
    }
    for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
      const Operand& operand = function_.operands[instruction.first_operand + i];
      const bool target = i == 0 && returns;
      if (target && operand.second >= 0) {
        effect.defines.push_back(static_cast<std::uint32_t>(operand.second));
      }
      const bool nested =
          operand.kind == Operand::Kind::list || operand.kind == Operand::Kind::address;
      for (std::uint32_t j = 0; j < (nested ? operand.count : 1); ++j) {
        const Operand& leaf = nested ? function_.elements[operand.index + j] : operand;
        if (leaf.kind != Operand::Kind::reg) continue;
        (target ? effect.defines : effect.uses).push_back(leaf.index);
        if (operand.kind == Operand::Kind::address) effect.addresses.push_back(leaf.index);
      }
    }
    return effect;
  }

 private:
  const Function& function_;
};

class Slicer {
 public:
  explicit Slicer(const Function& function) : function_(function) {
    const Effects effects(function);
    const std::size_t count = function.instructions.size();
    effects_.reserve(count);
    definers_.resize(function.registers.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      effects_.push_back(effects.of(function.instructions[i]));
      for (std::uint32_t reg : effects_[i].defines)
        definers_[reg].push_back(i);
    }
    needed_.resize(function.registers.size(), false);
    options_.keep.resize(count, false);
    options_.trace.resize(count, false);
    options_.execute.resize(count, false);
  }

  Result<DecodeOptions> run() {
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      const Effect& effect = effects_[i];
      if (effect.role == Role::control) {
        options_.keep[i] = true;
        need(effect.uses);
      } else if (effect.global) {
        options_.keep[i] = true;
        options_.trace[i] = true;
        need(effect.addresses);
        need_guard(i);
      }
    }
    while (!work_.empty()) {
      const std::uint32_t reg = work_.back();
      work_.pop_back();
      for (std::uint32_t definer : definers_[reg]) {
        if (!execute(definer)) {
          return fail(ErrorCode::unsupported,
                      fmt::format("PTX line {}: an address depends on the result of {}",
                                  function_.instructions[definer].line,
                                  function_.instructions[definer].mnemonic));
        }
      }
    }
    return std::move(options_);
  }

 private:
  void need(const std::vector<std::uint32_t>& registers) {
    for (std::uint32_t reg : registers) {
      if (needed_[reg]) continue;
      needed_[reg] = true;
      work_.push_back(reg);
    }
  }
  void need_guard(std::uint32_t instruction) {
    const std::int32_t guard = function_.instructions[instruction].guard;
    if (guard >= 0) need({static_cast<std::uint32_t>(guard)});
  }

  bool execute(std::uint32_t instruction) {
    if (options_.execute[instruction]) return true;
    const Effect& effect = effects_[instruction];
    if (effect.role == Role::atomic && effect.global) return false;
    options_.keep[instruction] = true;
    options_.execute[instruction] = true;
    need(effect.uses);
    const bool reads_block_memory =
        (effect.role == Role::load || effect.role == Role::atomic) && effect.block_local;
    return !reads_block_memory || keep_block_memory();
  }

  // A load of shared or local memory needs every store that could feed it.
  bool keep_block_memory() {
    if (block_memory_) return true;
    block_memory_ = true;
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      const Effect& effect = effects_[i];
      const bool writes = effect.role == Role::store || effect.role == Role::atomic;
      if (writes && effect.block_local && !effect.global && !execute(i)) return false;
    }
    return true;
  }

  const Function& function_;
  std::vector<Effect> effects_;
  std::vector<std::vector<std::uint32_t>> definers_;
  std::vector<bool> needed_;
  std::vector<std::uint32_t> work_;
  DecodeOptions options_;
  bool block_memory_ = false;
};

}  // namespace

Result<DecodeOptions> address_slice(const Program::Code& code) {
  return Slicer(*code.function).run();
}

}  // namespace regraph::ptx
