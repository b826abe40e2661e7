// Whether two names of optimization steps mean the same, in words. Models name one idea in several
// ways ("warp per row", "one warp per row mapping"); a search must not try it once for each.
#pragma once

#include "regraph/step_graph.h"

#include <set>
#include <string>
#include <string_view>

namespace regraph::llm {

// The words of a name that carry its meaning: in lower case, plurals and participles cut, without
// articles and words that say nothing ("use", "optimization", "kernel"). "One warp per row" gives
// {row, warp}.
[[nodiscard]] std::set<std::string> telling_words(std::string_view name);

// Whether two names share so many telling words that they mean one step: all of them, or two thirds
// of those in either and two at least.
[[nodiscard]] bool mean_the_same(std::string_view one, std::string_view other);

// The step of `graph` one of whose names has exactly the telling words of `name`; null: none.
[[nodiscard]] const Step* step_meant_by(std::string_view name, const StepGraph& graph);

// Whether `name` says that something is to be removed and nothing but words of `last`, the names of
// the step before: "remove shared memory tiling" after "Tile through shared memory".
[[nodiscard]] bool takes_back(std::string_view name, std::string_view last);

}  // namespace regraph::llm
