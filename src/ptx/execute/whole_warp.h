// Instructions that all lanes of a warp execute together, `.aligned` ones: lanes that come on
// different paths wait for each other.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Whether all 32 lanes are here. If not, `next` says where to go on: null after a fault.
[[nodiscard]] bool is_whole_warp(const Record* record, Warp& warp, const char* what,
                                 const Record** next);

}  // namespace regraph::ptx
