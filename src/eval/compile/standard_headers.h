// The part of the C++ standard library that device code uses, in headers of our own: NVRTC has
// none. They are short because every compile reads them, and they leave the heavy parts (tuple,
// complex) to the libcu++ of the toolkit.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace regraph::compile_internal {

// Name -> text. All but <complex>, <tuple> and <atomic> are included before every source, since
// the real headers include each other and sources rely on it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> standard_headers();

// Texts of the larger ones, for standard_headers().
extern const char* const kStandardTypeChanges;  // the part of <type_traits> without questions
extern const char* const kStandardTypeTraits;
extern const char* const kStandardLimits;
extern const char* const kStandardMath;

}  // namespace regraph::compile_internal
