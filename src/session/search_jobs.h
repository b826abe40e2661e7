// How many workers a search has.
#pragma once

#include "search/config.h"

namespace regraph {

// As many as were asked for; else as the fleet has places, or processors here, whichever is more.
// `asked` 0: not said. `places` 0: there is no fleet.
void choose_jobs(int asked, int places, SearchConfig& config);

}  // namespace regraph
