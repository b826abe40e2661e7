// What the PTX of a kernel, and how often each instruction of it ran, say of its shape.
#pragma once

#include "kernel/facts.h"
#include "ptx/interpreter.h"

namespace regraph {

// Adds loop_depth, accumulation_chains, accumulated_product_share, guard_share,
// repeated_access_share and approximable_share as far as they can be told. `profile` must be of
// `program`.
void fill_program_facts(const ptx::Program& program, const ptx::Profile& profile, Facts& facts);

}  // namespace regraph
