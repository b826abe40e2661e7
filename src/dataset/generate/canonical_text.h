// What a source says when nobody looks at its names and layout.
#pragma once

#include "base/hash.h"

#include <string_view>

namespace regraph::dataset {

// Of the tokens, each name that is the author's own replaced by its number in the order of first
// use. Numbers and types count. Any text is safe to pass.
[[nodiscard]] Hash128 canonical_identity(std::string_view source);

}  // namespace regraph::dataset
