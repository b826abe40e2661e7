// What has to be true of a kernel as a whole, before a step looks for its place in it.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"

#include <optional>
#include <string_view>

namespace regraph::rewrite {

// What steps do to shared memory depends on whether there is some.
enum class SharedMemory { any, none, some };

struct Requirements {
  bool one_launch = true;   // the plan has no other
  bool transparent = true;  // the analyses see all that the kernel does
  // Buffers do not overlap; what could happen otherwise, "a copy could go stale", or nothing.
  std::optional<std::string_view> distinct_buffers = std::nullopt;
  SharedMemory shared = SharedMemory::any;
  bool lone_threads = false;  // the threads of a block do nothing together
  bool known_calls = false;   // every function that is called is known not to touch memory
  bool fixed_block = false;   // the block's extents do not follow the problem's sizes
};

// Error: refused, with the first requirement that the kernel does not meet.
[[nodiscard]] Status require(const Requirements& needed, const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
