// Where a file launches a kernel, or names it otherwise.
#pragma once

#include "kernel/problem.h"
#include "source/host_launch.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::handback {

struct LaunchSite {
  int line = 0;
  std::size_t begin = 0;  // bytes of what stands between "<<<" and ">>>"
  std::size_t end = 0;
  std::vector<std::string> shape;      // its parts, as they are written: grid, block, ...
  std::vector<std::string> arguments;  // of the kernel, as they are written
  std::string instance;                // "float, 4" of kernel<float, 4><<<...>>>
  source::HostLaunch read;             // what could be resolved
};

struct KernelUses {
  std::vector<LaunchSite> sites;     // in order
  std::vector<int> macro_lines;      // of macros that launch it
  std::vector<int> mentioned_lines;  // where its name is a value: its address may be launched
};

// What launches mean is read off the function they stand in and what stands outside of functions:
// a parameter of that function has no known value.
[[nodiscard]] KernelUses find_kernel_uses(std::string_view text, const KernelSignature& kernel);

// Whether evaluating an expression of the host once more does the same: names, members, literals,
// arithmetic, casts, size().
[[nodiscard]] bool is_pure(std::string_view expression);

}  // namespace regraph::handback
