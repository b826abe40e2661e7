// What a leak check found, in words.
#pragma once

#include "learn/leak_check.h"

#include <string>

namespace regraph::learn {

// For each leak the two kernels, why they are joined and what to do; then warnings, how near the
// nearest families are, and styles that add nothing. Names the file of what has to be changed.
[[nodiscard]] std::string leak_text(const LeakCheck& check);

}  // namespace regraph::learn
