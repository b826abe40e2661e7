// Unified diff of two texts.
#pragma once

#include <string>
#include <string_view>

namespace regraph {

// Returns the diff in the form `diff -u` prints and `patch` reads; empty for equal texts.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after,
                                       std::string_view before_name, std::string_view after_name);

}  // namespace regraph
