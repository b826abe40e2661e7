// Which registers an instruction reads and writes.
#pragma once

#include "ptx/parse/module.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace regraph::ptx {

enum class InstructionRole : std::uint8_t { plain, load, store, atomic, control };

struct InstructionEffect {
  InstructionRole role = InstructionRole::plain;
  bool global = false;       // may touch global memory
  bool block_local = false;  // may touch shared or local memory
  bool copies = false;       // from global to shared memory (cp.async)
  std::vector<std::uint32_t> defines;
  std::vector<std::uint32_t> uses;       // all registers read, the guard among them
  std::vector<std::uint32_t> addresses;  // those inside [ ]
};

[[nodiscard]] InstructionEffect effect_of(const Function& function, const Instruction& instruction);

// The same of all instructions of a function, and where each register is set.
class DefinitionTable {
 public:
  explicit DefinitionTable(const Function& function);

  [[nodiscard]] const InstructionEffect& effect(std::size_t instruction) const {
    return effects_[instruction];
  }
  // Instructions that set the register, in their order.
  [[nodiscard]] const std::vector<std::size_t>& definitions(std::uint32_t reg) const;

 private:
  std::vector<InstructionEffect> effects_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> definitions_;
};

}  // namespace regraph::ptx
