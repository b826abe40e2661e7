// Whether a program said the same again.
#pragma once

#include <string>
#include <string_view>

namespace regraph::capture {

// Compares what a program wrote with a candidate in it to what it writes as it is. `again`: what it
// wrote when it ran a second time; lines that differ there (times, seeds) are not compared. Numbers
// with a fraction may differ by 0.1 % or by 1e-5, as reordered sums do. Empty: nothing differs;
// else which line does, without its words, which are the user's.
[[nodiscard]] std::string difference_of_outputs(std::string_view original, std::string_view again,
                                                std::string_view candidate);

}  // namespace regraph::capture
