// Whole-file reading, atomic writing and temporary directories.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace regraph {

// Returns the content of a regular file. Errors: not_found, resource (larger than `limit_bytes`),
// invalid_argument (not a regular file: a FIFO would block for ever), io.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit_bytes);

enum class Durability : unsigned char {
  fast,  // survives a crash of the program
  disk,  // survives a crash of the machine: fsync of file and directory
};

// Replaces `path` so that a reader sees the old content or the new, never a part. Writers of the
// same path in several processes do not disturb each other. Missing parent directories are made.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view content,
                                Durability durability = Durability::fast);

// A fresh directory, removed with everything in it when the object goes.
class TemporaryDirectory {
 public:
  // Makes "<parent>/<prefix>XXXXXX"; an empty parent means the system's temporary directory.
  [[nodiscard]] static Result<TemporaryDirectory> create(const std::string& prefix,
                                                         const std::filesystem::path& parent = {});
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  ~TemporaryDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace regraph
