// The one folder that an agent's files are read from and written to.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace regraph::agent {

struct WorkspaceLimits {
  std::size_t file_bytes = std::size_t{1} << 20;  // of a file that is read or written
  std::size_t files = 100'000;                    // in all
  std::uint64_t bytes = std::uint64_t{4} << 30;   // in all
};

// Whether a name may be used: a relative path of plain parts, "a/b.cu". Errors (invalid_argument):
// empty, absolute, longer than 255 bytes, with "..", ".", an empty part, a control character or a
// backslash.
[[nodiscard]] Status check_name(std::string_view name);

// Every part of a name is opened by itself and no symbolic link is followed, so that no name leads
// out of the folder, whatever else changes it meanwhile. Thread-safe.
class Workspace {
 public:
  // Makes the folder where it is missing. Errors: io, invalid_argument (something else is there).
  [[nodiscard]] static Result<Workspace> open(const std::filesystem::path& folder,
                                              const WorkspaceLimits& limits);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Errors: invalid_argument (the name, a symbolic link, not a regular file), not_found, resource
  // (larger than the limit), io.
  [[nodiscard]] Result<std::string> read(std::string_view name) const;
  // Replaces the file as a whole; folders on the way are made. Errors as read(), resource where the
  // workspace is full.
  [[nodiscard]] Status write(std::string_view name, std::string_view content) const;
  // Adds to the end of a file that may grow beyond a file's limit. Errors as write().
  [[nodiscard]] Status append(std::string_view name, std::string_view content) const;
  // Makes the folder, and those on the way, and returns its path. Errors as write().
  [[nodiscard]] Result<std::filesystem::path> make_folder(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // Error (resource): there are more files or bytes than may be.
  [[nodiscard]] Status has_room() const;

 private:
  Workspace(std::filesystem::path folder, WorkspaceLimits limits, FileDescriptor root)
      : folder_(std::move(folder)), limits_(limits), root_(std::move(root)) {}
  struct Place;
  [[nodiscard]] Result<Place> place_of(std::string_view name, bool make) const;

  std::filesystem::path folder_;
  WorkspaceLimits limits_;
  FileDescriptor root_;
};

}  // namespace regraph::agent
