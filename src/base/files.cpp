#include "base/files.h"

#include "base/file_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace regraph {

namespace {

Error system_error(const char* action, const std::filesystem::path& path, int number) {
  return fail(number == ENOENT || number == ENOTDIR ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("cannot {} '{}': {}", action, path.string(), std::strerror(number)));
}

Status write_all(int descriptor, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return system_error("write", path, errno);
    }
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit_bytes) {
  // O_NONBLOCK: opening a FIFO without a writer would block.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return system_error("open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error("examine", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is not a regular file", path.string()));
  }
  std::string content;
  content.resize(std::min(static_cast<std::size_t>(status.st_size), limit_bytes) + 1);
  std::size_t size = 0;
  while (true) {
    if (size > limit_bytes) {
      return fail(ErrorCode::resource,
                  fmt::format("'{}' is larger than {} bytes", path.string(), limit_bytes));
    }
    if (size == content.size()) content.resize(size * 2);
    const ssize_t count = ::read(file.get(), content.data() + size, content.size() - size);
    if (count == 0) break;
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      return system_error("read", path, errno);
    }
  }
  content.resize(size);
  return content;
}

Status write_file(const std::filesystem::path& path, std::string_view content,
                  Durability durability) {
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code code;
  std::filesystem::create_directories(parent, code);
  if (code) return system_error("make the directory", parent, code.value());

  std::string name = (parent / fmt::format(".{}.XXXXXX", path.filename().string())).string();
  const FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return system_error("make a file in", parent, errno);
  const auto discard = [&name](Error error) {
    ::unlink(name.c_str());
    return error;
  };
  ::fchmod(file.get(), 0644);
  if (Status status = write_all(file.get(), content, path); !status.ok()) {
    return discard(status.error());
  }
  if (durability == Durability::disk && ::fsync(file.get()) != 0) {
    return discard(system_error("write", path, errno));
  }
  if (::rename(name.c_str(), path.c_str()) != 0) {
    return discard(system_error("replace", path, errno));
  }
  if (durability == Durability::disk) {
    const FileDescriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid() || ::fsync(directory.get()) != 0) {
      return system_error("sync", parent, errno);
    }
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& prefix,
                                                      const std::filesystem::path& parent) {
  std::error_code code;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(code) : parent;
  if (code) return fail(ErrorCode::io, "there is no temporary directory: " + code.message());
  std::string name = (base / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) return system_error("make a directory in", base, errno);
  return TemporaryDirectory(name);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace regraph
