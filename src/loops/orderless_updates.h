// Updates that give the same in any order, as atomics.
#pragma once

#include "base/result.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <set>
#include <string>

namespace regraph::loops {

// The block with `x[i] += e`, `x[i] = min(x[i], e)` and their like as atomics, where x is one of
// the buffers. Error: unsupported, with the line: one of them is used in another way, or there is
// no atomic for what is done to it.
[[nodiscard]] Result<source::Block> with_atomic_updates(const source::Block& block,
                                                        const std::set<std::string>& buffers,
                                                        const source::Kernel& kernel);

// Whether the loop does nothing with the scalar but to bring another value into it: a sum, product,
// extreme, whatever order its iterations have.
[[nodiscard]] bool is_reduction_of(const source::Block& body, const std::string& scalar);

}  // namespace regraph::loops
