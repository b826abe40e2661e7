// A copy of a folder in which a command may do what it likes.
#pragma once

#include "base/cancellation.h"
#include "base/files.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

struct CopyLimits {
  std::uint64_t file_bytes = std::uint64_t{256} << 20;  // larger files are left out
  std::uint64_t all_bytes = std::uint64_t{2} << 30;     // of what is copied
  std::uint64_t files = 100'000;
};

// Copies what is in `from` into the folder `to`, which is there: files with their times and rights,
// folders, links as links. Repositories' own data (.git), what this project's programs wrote
// (regraph-runs, regraph-capture) and their copies stay behind. Returns what else was left out, for
// people. Errors: resource (more than the limits allow), io, cancelled.
[[nodiscard]] Result<std::vector<std::string>> copy_folder(const std::filesystem::path& from,
                                                           const std::filesystem::path& to,
                                                           const CopyLimits& limits,
                                                           const Cancellation& cancellation);

// An empty folder beside `folder`, so that "../common" means the same in it; in the system's
// temporary folder where none can be made there, which `note` says then.
[[nodiscard]] Result<TemporaryDirectory> folder_beside(const std::filesystem::path& folder,
                                                       std::string& note);

// Removes everything in the folder, itself aside.
void empty_folder(const std::filesystem::path& folder);

}  // namespace regraph
