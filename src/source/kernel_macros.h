// Kernels that a file makes with macros of its own, written out: "DEFINE_KERNEL(add, +)" becomes
// the function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct WrittenOutMacros {
  std::string text;                 // lines keep their numbers
  std::vector<std::string> macros;  // that were written out, in the order of their first use
};

// Replaces uses of macros whose replacement holds a __global__ function or the beginning of one,
// directly or through other macros, also where such a macro is another's argument. Other macros
// stay, but for those that paste names together inside what was written out. Of several definitions
// the first counts until it is undefined. A use that cannot be read (missing arguments)
// stays, and so does a whole text whose macros come to megabytes.
[[nodiscard]] WrittenOutMacros write_out_kernel_macros(std::string_view text);

// The first macro of the text whose replacement says __global__; empty when there is none.
[[nodiscard]] std::string_view macro_with_kernel(std::string_view text);

}  // namespace regraph::source
