// The address slice: what has to run so that every global access knows its address.
#pragma once

#include "base/result.h"
#include "ptx/decode/code.h"

namespace regraph::ptx {

// Returns which instructions of the code's kernel to keep: all control flow and barriers, all
// global accesses as traces, and, flow-insensitively, everything that computes their addresses and
// guards. Loads are executed only where their values feed those. Error: unsupported when an address
// depends on an atomic's result, which the order of blocks decides.
[[nodiscard]] Result<DecodeOptions> address_slice(const Program::Code& code);

}  // namespace regraph::ptx
