// Which header of the CUDA toolkit, of the C++ library or of PyTorch declares a name that stands in
// no namespace of the C++ library, so that what came through a header for the host is there all the
// same.
#pragma once

#include <string_view>

namespace regraph::source {

// The header of a name as device code writes it, with the namespace in front of it ("at", "cuda")
// or nothing. Empty for names that no known header declares, and for words that are as good names
// of the user's own ("half"), unless `is_undefined`: the compiler has said that nothing declares
// it.
[[nodiscard]] std::string_view header_of_device_name(std::string_view name,
                                                     std::string_view qualifier, bool is_undefined);

// What a pattern of the tables of headers means: a name, or with one star the names around it.
[[nodiscard]] bool fits_name(std::string_view name, std::string_view pattern);

}  // namespace regraph::source
