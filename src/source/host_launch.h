// What a file's host code says about how a kernel is launched: kernel<<<grid, block, ...>>>(...).
#pragma once

#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// What could be resolved; what could not is left empty.
struct HostLaunch {
  int line = 0;           // of the launch, 1-based
  std::size_t begin = 0;  // byte of its "<<<"
  std::string shape;      // what stands between "<<<" and ">>>", tokens one blank apart
  std::vector<std::string> template_arguments;  // that it names
  std::optional<Dim3> block;
  // Over the kernel's integer parameters and bx, by, bz.
  std::optional<std::array<IntegerExpression, 3>> grid;
  // Where `grid` is not known because variables of the host are not: the grid over these, too.
  std::optional<std::array<IntegerExpression, 3>> open_grid;
  // These variables as sizes, of the shared memory, too; "host_n" where n is a parameter.
  std::vector<std::string> host_sizes;
  std::optional<IntegerExpression> dynamic_shared_bytes;
  std::map<std::string, std::int64_t> integers;  // kernel parameters passed constants
  // Integers that are passed the same variable as an earlier one, and that.
  std::map<std::string, std::string> same_integer;
  // Pointers that are passed the same text as an earlier one, and that.
  std::map<std::string, std::string> same_buffer;
  int overlapping_line = 0;  // of the first launch in the file with such pointers; 0: none
};

// "sums" of "math::sums".
[[nodiscard]] std::string unqualified_name(const std::string& kernel);

// Returns the first launch of the kernel in `source` (the whole file). Macros, integers and dim3
// variables with one constant definition are followed; nothing else is. Nothing when the file does
// not launch it.
[[nodiscard]] std::optional<HostLaunch> find_host_launch(std::string_view source,
                                                         const KernelSignature& kernel);

// Every launch of the kernel, in order.
[[nodiscard]] std::vector<HostLaunch> find_host_launches(std::string_view source,
                                                         const KernelSignature& kernel);

}  // namespace regraph::source
