// Which headers of the C++ and CUDA libraries a piece of device code needs, by the names it uses.
//
// Files include umbrella headers (<cub/cub.cuh>, <thrust/host_vector.h>) that hold host code, and
// lean on standard headers that include each other. The device compiler takes neither, so what the
// kept code mentions decides.
#pragma once

#include "source/top_level.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// Whether an #include of this header may stay in device code: the device compiler has it or is
// given a substitute (eval/compile/stub_headers.h).
[[nodiscard]] bool is_device_header(std::string_view name);

// Whether it is one of the C++ standard library, thrust, cub or libcu++, whose code a compiler with
// a host's headers takes.
[[nodiscard]] bool is_library_header(std::string_view name);

// The header between the brackets or quotes of an #include; empty for other directives.
[[nodiscard]] std::string_view included_header(std::string_view directive);

// Names behind at::, c10:: and torch:: that no stand-in of a header declares ("c10::complex"), each
// once, in order.
[[nodiscard]] std::vector<std::string> unknown_names_of_pytorch(std::string_view text);

struct LibraryUse {
  std::vector<std::string> headers;  // needed and not included by the kept code, sorted
  std::set<std::string_view>
      namespaces;  // of std, cub, thrust: those that the code takes names from
};

// Looks at the kept declarations, at macros' replacements and at `further` texts, which arguments
// of templates stand in. Names of namespace std count without "std::" where the file has "using
// namespace std" and does not declare them itself. Names that the compiler said are `undefined`
// need their headers whatever is included: it may be so under a condition.
[[nodiscard]] LibraryUse library_use(std::string_view text, const std::vector<Token>& tokens,
                                     const std::vector<TopLevelDeclaration>& declarations,
                                     const std::vector<bool>& kept,
                                     const std::vector<std::string>& further,
                                     const std::vector<std::string>& undefined);

}  // namespace regraph::source
