// Which of a file's launches of a kernel is meant.
#pragma once

#include "base/result.h"
#include "source/host_launch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct ChosenLaunch {
  std::optional<HostLaunch> launch;  // nothing: the file does not launch the kernel
  std::string note;                  // that others differ in what is passed; empty: none does
};

// The launch in `line` (0: none is named), else the first one where all agree on block, grid and
// shared memory. Of a template's launches those with other arguments than `template_arguments` do
// not count. Errors, with the lines and what stands there: not_found (no launch in that line),
// invalid_argument (they do not agree and no line is named).
[[nodiscard]] Result<ChosenLaunch> choose_launch(std::string_view source,
                                                 const KernelSignature& kernel,
                                                 const std::vector<std::string>& template_arguments,
                                                 int line);

}  // namespace regraph::source
