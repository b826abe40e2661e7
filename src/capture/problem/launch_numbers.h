// The numbers of a launch, and the size symbols that stand for those that are no parameters.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace regraph::capture {

inline constexpr const char* kGridSymbols[3] = {"grid_x", "grid_y", "grid_z"};
inline constexpr const char* kSharedSymbol = "shared_bytes";

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
