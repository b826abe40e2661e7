// The results of a search in T4, the auto-tuning community's output format (schema version 1.0.0 of
// the Kernel Tuner project), so that its dashboards and analyses can be used.
#pragma once

#include "report/run_report.h"

#include <string>

namespace regraph {

// Every candidate that was evaluated, the original first, in the order in which they were.
//
//   configuration  state, parent, steps (the way from the original as text), block_x, block_y,
//   block_z times          runtimes: the median in milliseconds; empty unless correct invalidity
//   correct, or the kind of failure correctness    1 for candidates that passed verification, else
//   0 measurements   time with the ends of its interval in ms, and the facts with their units
[[nodiscard]] std::string t4_json(const RunReport& report);

}  // namespace regraph
