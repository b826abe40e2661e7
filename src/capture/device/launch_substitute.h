// Another kernel in the place of one that a captured program launches.
#pragma once

#include "capture/device/launch_observer.h"
#include "ptx/interpreter.h"
#include "ptx/memory/module_memory.h"

#include <optional>

namespace regraph::capture {

struct Substitute {
  const ptx::Program* program = nullptr;
  ptx::LaunchArguments arguments;
  ptx::ModuleMemory* variables = nullptr;
};

class LaunchSubstitute {
 public:
  virtual ~LaunchSubstitute() = default;
  // What to run instead; nothing: the kernel itself. Valid until the next call.
  virtual std::optional<Substitute> substitute(const ObservedLaunch& launch) = 0;
};

}  // namespace regraph::capture
