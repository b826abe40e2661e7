// A tensor map as it lies in memory: what a copy of a tensor (cp.async.bulk.tensor) copies.
// Hardware keeps it in a form of its own, which programs do not look into; this is ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace regraph::ptx {

struct TensorMap {
  static constexpr std::size_t kBytes = 128;
  static constexpr int kMostDimensions = 5;

  std::uint64_t address = 0;
  std::array<std::uint64_t, kMostDimensions - 1> strides =
      {};                                                   // bytes; of the first it is 1 element
  std::array<std::uint32_t, kMostDimensions> extents = {};  // elements
  std::array<std::uint32_t, kMostDimensions> box = {};      // of what is copied at a time
  std::array<std::uint32_t, kMostDimensions> element_strides = {};
  std::uint32_t last_dimension = 0;  // the rank without one
  std::uint32_t type = 0;            // PTX ISA, tensormap.replace: 6 is f16
  std::uint32_t interleave = 0;
  std::uint32_t swizzle = 0;  // 0 none, 1 to 3: 32, 64, 128 bytes
  std::uint32_t fill = 0;     // 0: zeros outside
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

}  // namespace regraph::ptx
