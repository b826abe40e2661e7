// What the page is told: one JSON text, which its script draws.
#pragma once

#include "base/result.h"
#include "report/page/run_files.h"

#include <string>

namespace regraph {

// Keys: `result` (result.json as it is, or null), `run` (what the database knows of the run),
// `facts` (name -> unit, meaning), `texts` (every text once), `columns` and `states` (rows of
// numbers, texts by their place), `refused` (parent, step, reason), `known` (parent, step, state it
// led to), `lines` and, in each state, `source`: hunks against its parent's. Error: parse, when
// result.json is none.
[[nodiscard]] Result<std::string> page_payload(const RunFiles& files);

}  // namespace regraph
