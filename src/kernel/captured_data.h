// Contents of buffers as files: what a program's launch left is kept beside its problem.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace regraph {

// More than that a buffer may not hold.
inline constexpr std::uint64_t kMostCapturedBytes = std::uint64_t{2} << 30;

// Writes the bytes, compressed, to a file of `folder` that is named by their hash, unless it is
// there already; for the user alone to read. Returns the file's name. Error: io.
[[nodiscard]] Result<std::string> store_captured(const std::filesystem::path& folder,
                                                 std::span<const std::byte> bytes);

// The content of such a file. Errors as load_captured.
[[nodiscard]] Result<std::shared_ptr<const std::vector<std::byte>>> read_captured(
    const std::filesystem::path& path);

// Loads what the problem's captured cases name; relative names are in `folder`, and all are
// absolute afterwards. Buffers must be as long as their shapes say, structures as they are; the
// rest of a file is not used. Errors name the file: not_found, io, invalid_argument (truncated,
// changed, too short).
[[nodiscard]] Status load_captured(Problem& problem, const std::filesystem::path& folder);

}  // namespace regraph
