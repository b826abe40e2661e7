// Launches, patch and the user's own check, for people.
#pragma once

#include "report/run_report.h"

#include <string>

namespace regraph {

// How the winner is launched, and how the original is. These are lines of result_text.
[[nodiscard]] std::string launches_text(const RunReport& report);
[[nodiscard]] std::string hand_back_text(const HandBackReport& back);
[[nodiscard]] std::string check_text(const CheckReport& check);

}  // namespace regraph
