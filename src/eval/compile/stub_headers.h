// Headers that kernel files include for nvcc and that NVRTC does not have. They are handed to the
// compiler in memory and declare only what device code can use; PyTorch's are among them
// (kernel/pytorch_headers.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace regraph::compile_internal {

// Name of the header that is included before every source: names that nvcc gives without being
// asked (INFINITY, INT_MAX, uint, uint32_t, M_PI), and the warp functions that CUDA
// 13 no longer has, with the whole warp as mask.
inline constexpr const char* kPreludeName = "regraph_prelude.h";

using NamedTexts = std::vector<std::pair<std::string, std::string>>;  // name -> text

// For NVRTC, the prelude among them.
[[nodiscard]] const NamedTexts& stub_headers();

// For nvcc, which has the real ones: a prelude that includes those, and what neither has.
[[nodiscard]] const NamedTexts& nvcc_headers();

}  // namespace regraph::compile_internal
