// Puts a file's own headers in place of their #include lines, so that one text holds everything.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::source {

// Replaces #include "name" by the header's text, each header once, where it is found in the folder
// of `file` or in one of `folders`, and #include <name> where it is in one of `angle_folders`;
// others stay as they are, and so do PyTorch's wherever they lie. Lines keep their file and number
// through #line. Only regular files below these folders are ever opened. Errors, with "file:line":
// invalid_argument (a path that leaves these folders, something that is no regular file), resource
// (more than 1 MiB in all), io.
[[nodiscard]] Result<std::string> inline_local_includes(
    const std::string& text, const std::filesystem::path& file,
    const std::vector<std::filesystem::path>& folders,
    const std::vector<std::filesystem::path>& angle_folders = {});

// The headers that inline_local_includes would put into `file`, in the order of their first use;
// until the first that it refuses.
[[nodiscard]] std::vector<std::filesystem::path> local_includes(
    const std::string& text, const std::filesystem::path& file,
    const std::vector<std::filesystem::path>& folders,
    const std::vector<std::filesystem::path>& angle_folders = {});

}  // namespace regraph::source
