// The numbers of a launch, and the size symbols that stand for those that are no parameters.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace regraph::capture {

// Blocks of a grid along an axis, and bytes of dynamic shared memory; of several kernels in a row
// "grid_x_2" is the third one's.
[[nodiscard]] std::string grid_symbol(std::size_t axis, std::size_t stage = 0);
[[nodiscard]] std::string shared_symbol(std::size_t stage = 0);

// Elements from a pointer to the end of its allocation: "p_data_length" for "p.data".
[[nodiscard]] std::string length_symbol(const std::string& pointer);
// Bytes of a pointer from the begin of the one it overlaps.
[[nodiscard]] std::string begin_symbol(const std::string& pointer);

// The value of that type at a byte of a parameter block, which must hold it. Not for floating
// types.
[[nodiscard]] std::int64_t integer_at(std::span<const std::byte> block, std::size_t byte,
                                      ScalarType type);

// Which of the passed parameters holds the pointer: itself, or the structure that it is inside of.
[[nodiscard]] std::size_t place_of(const KernelSignature& signature, const Parameter& pointer);

}  // namespace regraph::capture
