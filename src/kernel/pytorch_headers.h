// What device code takes from PyTorch: which of its headers declares a name, and a stand-in for
// each of those headers, so that kernels of extensions compile where PyTorch is not, and without
// its host code where it is.
//
// The stand-ins keep PyTorch's names, layouts and meaning: c10::Half and c10::BFloat16 are their
// bits, convert with rounding to nearest even and compute through float.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {

// Names and texts, as in #include <c10/util/Half.h>. What a text includes is in the list or the
// CUDA toolkit's.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& pytorch_headers();

// Whether there is a stand-in for the header.
[[nodiscard]] bool is_pytorch_header(std::string_view name);

// Whether the header is one of PyTorch's, with a stand-in or without.
[[nodiscard]] bool is_header_of_pytorch(std::string_view name);

// The header that declares the name, without its namespace: "BFloat16", "C10_LAUNCH_BOUNDS_1".
// `qualified`: it was written behind at::, c10:: or torch::; macros and functions alone count
// without. Empty for names that no stand-in declares.
[[nodiscard]] std::string_view pytorch_header_of(std::string_view name, bool qualified);

}  // namespace regraph
