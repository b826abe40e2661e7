#include "base/directory_lock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>

namespace regraph {

Result<DirectoryLock> DirectoryLock::take(const std::filesystem::path& path) {
  // Close-on-exec: a child that outlives this process must not keep the lock.
  FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return fail(
        absent ? ErrorCode::not_found : ErrorCode::io,
        fmt::format("cannot open the directory '{}': {}", path.string(), std::strerror(errno)));
  }
  while (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) {
      return fail(ErrorCode::resource,
                  fmt::format("the directory '{}' is in use by another process", path.string()));
    }
    return fail(ErrorCode::io, fmt::format("cannot lock the directory '{}': {}", path.string(),
                                           std::strerror(errno)));
  }
  return DirectoryLock(std::move(directory));
}

}  // namespace regraph
