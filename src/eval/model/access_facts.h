// How far accesses are from the best that their width and their lanes allow.
#pragma once

#include "kernel/facts.h"
#include "ptx/interpreter.h"

#include <vector>

namespace regraph {

// Adds what the memory counters of `profile` say beside their averages: ratios to the ideal, widths
// and shares of requests. `merged` is merged_shares of the same profile. Facts about accesses that
// the kernel does not make stay absent.
void fill_access_facts(const ptx::Profile& profile, const std::vector<double>& merged,
                       Facts& facts);

}  // namespace regraph
