// Says that this process uses a directory. The kernel drops the lock when the process ends, however
// it ends, so a lock is never left behind.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"

#include <filesystem>

namespace regraph {

class DirectoryLock {
 public:
  // Locks an existing directory without waiting; nothing is written into it. Errors: not_found,
  // resource when another process (or another lock of this one) holds it, io.
  [[nodiscard]] static Result<DirectoryLock> take(const std::filesystem::path& directory);

 private:
  explicit DirectoryLock(FileDescriptor directory) : directory_(std::move(directory)) {}
  FileDescriptor directory_;
};

}  // namespace regraph
