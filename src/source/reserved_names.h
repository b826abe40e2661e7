// Words of a source that are nobody's to choose: the language's and CUDA's.
#pragma once

#include <string_view>

namespace regraph::source {

// Whether `name` is a keyword, one of CUDA's index variables, or of the form that C++ keeps for
// compilers ("__syncthreads", "_Bool").
[[nodiscard]] bool is_reserved_name(std::string_view name);

}  // namespace regraph::source
