// Which registers an instruction reads and writes.
#pragma once

#include "ptx/parse/module.h"

#include <cstdint>
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

}  // namespace regraph::ptx
