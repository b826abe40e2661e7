// Which read-modify-write an atom or red instruction performs.
#pragma once

#include "ptx/decode/opcode.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace regraph::ptx {

enum class AtomicOperation : std::uint8_t {
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_and_swap,
  increment,
  decrement,
};

// Record::flags of an atomic: the address register is 32 bits wide; the lane type above it.
inline constexpr std::uint32_t kAtomicNarrowAddress = 1;
inline constexpr std::uint32_t kAtomicTypeShift = 8;

// None when the operation or its type is not implemented.
[[nodiscard]] std::optional<AtomicOperation> atomic_operation(const Opcode& opcode, DataType type);

// Whether there are vectors of `elements` for it: add on f32, and what halves have, up to 16 bytes
// (PTX ISA, "atom": .vec_32_bit, .vec_16_bit, .half_word_type).
inline constexpr std::size_t kMostVectorElements = 8;
[[nodiscard]] bool is_vector_atomic(AtomicOperation operation, DataType type, int elements);

}  // namespace regraph::ptx
