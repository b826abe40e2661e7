// What machine code says of its kernels besides the code: the sections .nv.info.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::capture {

// Where a launch puts an argument.
struct ParameterSlot {
  std::uint32_t offset = 0;  // bytes from the first
  std::uint32_t bytes = 0;
  friend bool operator==(const ParameterSlot&, const ParameterSlot&) = default;
};

struct KernelImage {
  std::string symbol;  // mangled: "_Z5scalePff"
  std::vector<ParameterSlot> parameters;
  int registers = 0;                        // a thread
  std::uint64_t static_shared_bytes = 0;    // the kernel's own
  std::vector<std::string> variables = {};  // of its module, in global and constant memory; mangled
};

// The kernels of an ELF file of device code, by symbol. Error: parse, when it is none.
[[nodiscard]] Result<std::vector<KernelImage>> kernels_of_cubin(std::string_view elf);

// "void scale<float, 3>(float*, float)"; the symbol itself where it is not mangled.
[[nodiscard]] std::string readable_name(const std::string& symbol);

}  // namespace regraph::capture
