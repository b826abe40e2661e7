// Counters in words: of all that is known about a candidate the few that say something.
#pragma once

#include "kernel/facts.h"
#include "regraph/step.h"

#include <cstddef>
#include <string>

namespace regraph::llm {

// Returns one line a fact, "name: value unit, meaning" (fractions in per cent), at most `limit`:
// first the facts that the step's evidence names (`step` may be null), then those that are always
// of use, then those beyond the value at which they point at a problem. Every selection has a
// fixed order. Empty when nothing is known.
[[nodiscard]] std::string facts_text(const Facts& facts, const Step* step, std::size_t limit);

// The lines of the facts that the step's evidence is about and that facts_text without a step does
// not show.
[[nodiscard]] std::string step_facts_text(const Facts& facts, const Step& step, std::size_t limit);

// Returns "1.25 ms": four significant digits and a unit from ns to s.
[[nodiscard]] std::string time_text(double seconds);

}  // namespace regraph::llm
