// Whether two PTX texts are the same program.
#pragma once

#include <string>
#include <string_view>

namespace regraph {

// Compares instructions; comments, blank lines, source locations, debug sections and the lines that
// assertions stand in do not count.
[[nodiscard]] bool same_code(std::string_view a, std::string_view b);

// The text that same_code compares.
[[nodiscard]] std::string code_only(std::string_view ptx);

}  // namespace regraph
