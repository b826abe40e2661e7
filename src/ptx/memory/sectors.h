// The units in which global memory is moved.
#pragma once

#include <cstdint>

namespace regraph::ptx {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kLineBytes = 128;

}  // namespace regraph::ptx
