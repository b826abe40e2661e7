// Which file of a folder defines a kernel, by its name in the program.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::capture {

// The kernel as a source names it, out of a symbol: "k<float, 3>" of
// "void ns::k<float, 3>(float*, int)".
[[nodiscard]] std::string kernel_name_of(const std::string& symbol);

// The same with its namespaces, those without a name left out: "ns::k<float, 3>".
[[nodiscard]] std::string qualified_name_of(const std::string& symbol);

// The first without template arguments.
[[nodiscard]] std::string plain_name_of(const std::string& symbol);

struct KernelSource {
  std::filesystem::path path;
  bool is_part = false;  // another one includes it, and what stands in front of that is needed
};

// CUDA sources (.cu, .cpp, .cc, .cxx, in this order) in `folder` and below it, few levels deep,
// that define the kernel themselves or through headers of their own; the likeliest first, parts of
// others last. Files that are large or cannot be read are left out.
[[nodiscard]] std::vector<KernelSource> find_kernel_source(const std::filesystem::path& folder,
                                                           const std::string& symbol);

}  // namespace regraph::capture
