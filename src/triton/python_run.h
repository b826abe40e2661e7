// Python programs that read a kernel's text and run none of it.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::triton {

// What `script` prints for `input`, in a limited, disposable process. Errors: compile (it refuses;
// the message is its own), cancelled, io.
[[nodiscard]] Result<std::string> run_python(const std::filesystem::path& python,
                                             const std::filesystem::path& script,
                                             const std::vector<std::string>& arguments,
                                             std::string_view input,
                                             const Cancellation& cancellation);

}  // namespace regraph::triton
