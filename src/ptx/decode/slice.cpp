#include "ptx/decode/slice.h"

#include "ptx/decode/def_use.h"

#include <fmt/format.h>

namespace regraph::ptx {
namespace {

class Slicer {
 public:
  explicit Slicer(const Program::Code& code)
      : function_(*code.function), control_flow_(code.control_flow) {
    const Function& function = function_;
    const std::size_t count = function.instructions.size();
    effects_.reserve(count);
    definers_.resize(function.registers.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      effects_.push_back(effect_of(function, function.instructions[i]));
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
      const InstructionEffect& effect = effects_[i];
      if (effect.role == InstructionRole::control) {
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
    const InstructionEffect& effect = effects_[instruction];
    // In a loop threads may wait for what the slice does not run.
    if (effect.role == InstructionRole::atomic && effect.global &&
        control_flow_.blocks[control_flow_.block_of[instruction]].loop_depth > 0) {
      return false;
    }
    options_.keep[instruction] = true;
    options_.execute[instruction] = true;
    need(effect.uses);
    const bool reads_block_memory =
        (effect.role == InstructionRole::load || effect.role == InstructionRole::atomic) &&
        effect.block_local;
    return !reads_block_memory || keep_block_memory();
  }

  // A load of shared or local memory needs every store that could feed it.
  bool keep_block_memory() {
    if (block_memory_) return true;
    block_memory_ = true;
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      const InstructionEffect& effect = effects_[i];
      const bool writes =
          effect.role == InstructionRole::store || effect.role == InstructionRole::atomic;
      if (writes && effect.block_local && (!effect.global || effect.copies) && !execute(i)) {
        return false;
      }
    }
    return true;
  }

  const Function& function_;
  const ControlFlow& control_flow_;
  std::vector<InstructionEffect> effects_;
  std::vector<std::vector<std::uint32_t>> definers_;
  std::vector<bool> needed_;
  std::vector<std::uint32_t> work_;
  DecodeOptions options_;
  bool block_memory_ = false;
};

}  // namespace

Result<DecodeOptions> address_slice(const Program::Code& code) {
  return Slicer(code).run();
}

}  // namespace regraph::ptx
