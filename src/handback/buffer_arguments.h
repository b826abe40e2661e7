// Whether the buffers that a launch passes are what a winner relies on, as far as words tell.
#pragma once

#include "base/result.h"
#include "handback/launch_sites.h"
#include "kernel/problem.h"

#include <string>
#include <vector>

namespace regraph::handback {

struct BufferReliance {
  const std::vector<std::string>& assumptions;  // of the winner
  bool overlap_is_known = false;                // a run of the program showed what overlaps
};

// Error (unsupported), with the line: two arguments that point into one buffer where buffers are
// not to overlap, or one past the begin of a buffer that is to be aligned.
[[nodiscard]] Status check_buffers(const LaunchSite& site, const KernelSignature& kernel,
                                   const BufferReliance& reliance);

}  // namespace regraph::handback
