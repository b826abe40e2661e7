// Barriers that order nothing.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body without barriers in a kernel that uses no shared memory, where they stand in front of,
// or behind, all accesses to buffers that the kernel writes: no thread waits for what another one
// did. With shared arrays all stay.
[[nodiscard]] Block without_redundant_barriers(const Kernel& kernel);

}  // namespace regraph::rewrite
