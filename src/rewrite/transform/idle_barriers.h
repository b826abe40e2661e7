// Barriers that order nothing.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// The body without barriers in a kernel that uses no shared memory, where they stand in front of,
// or behind, all accesses to buffers that the kernel writes: no thread waits for what another one
// did. With shared arrays all stay.
[[nodiscard]] source::Block without_idle_barriers(const source::Kernel& kernel);

}  // namespace regraph::rewrite
