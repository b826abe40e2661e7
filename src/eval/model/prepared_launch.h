// The memory and arguments of one launch at its real size, for runs of parts of it.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "ptx/interpreter.h"
#include "ptx/memory/module_memory.h"

namespace regraph {

// What a launch works on, as it is before the launch.
struct PreparedLaunch {
  ptx::DeviceMemory memory;
  ptx::ModuleMemory variables;
  ptx::LaunchArguments arguments;
};

// Buffers of the sizes that `symbols` give, in a repeating pattern of the arguments' inits, backed
// only where they are touched. Errors: buffers too large for any device or arguments that do not
// fit the kernel (invalid_argument, not_found).
[[nodiscard]] Result<PreparedLaunch> prepare_launch(const Problem& problem,
                                                    const ptx::Program& program,
                                                    const ConcreteLaunch& launch,
                                                    const Symbols& symbols);

}  // namespace regraph
