#include "agent/workspace.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace regraph::agent {

namespace {

constexpr std::size_t kLongestName = 255;
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

Error bad_name(std::string_view name, const char* why) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' {}; give a name relative to the workspace, e.g. kernel.cu",
                          name.substr(0, kLongestName), why));
}

// What errno says about the part of a name that could not be opened.
Error not_opened(std::string_view name) {
  const int number = errno;
  if (number == ENOENT)
    return fail(ErrorCode::not_found, fmt::format("'{}' is not in the workspace", name));
  if (number == ELOOP || number == ENOTDIR || number == EISDIR || number == ENXIO)
    return bad_name(name, "is, or leads through, something else than a file in a folder");
  return fail(number == ENOSPC || number == EDQUOT || number == EMFILE ? ErrorCode::resource
                                                                       : ErrorCode::io,
              fmt::format("'{}': {}", name, std::strerror(number)));
}

Status write_all(int file, std::string_view content, std::string_view name) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return not_opened(name);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Status check_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName)
    return bad_name(name, name.empty() ? "is no name" : "is longer than 255 bytes");
  if (find_invalid_utf8(name)) return fail(ErrorCode::invalid_argument, "the name is not UTF-8");
  if (name.front() == '/') return bad_name(name, "is an absolute path");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\')
      return bad_name(name, "holds a backslash or a control character");
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return bad_name(name, "leads elsewhere");
    begin = end + 1;
  }
  return {};
}

// The folder that a file is in, open, and what it is called there.
struct Workspace::Place {
  FileDescriptor folder;
  std::string file;
};

Result<Workspace> Workspace::open(const std::filesystem::path& folder,
                                  const WorkspaceLimits& limits) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path whole = std::filesystem::canonical(folder, error);
  FileDescriptor root(error ? -1 : ::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) {
    return fail(ErrorCode::io,
                fmt::format("the workspace '{}' is no folder that can be used: {}", folder.string(),
                            error ? error.message() : std::strerror(errno)));
  }
  return Workspace(whole, limits, std::move(root));
}

Result<Workspace::Place> Workspace::place_of(std::string_view name, bool make) const {
  if (Status valid = check_name(name); !valid) return std::move(valid).error();
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor at(::openat(root_.get(), ".", kFolder));
  if (!at.valid()) return not_opened(name);
  std::string_view rest = name;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos;
       slash = rest.find('/')) {
    const std::string part(rest.substr(0, slash));
    if (make && ::mkdirat(at.get(), part.c_str(), kFolderMode) != 0 && errno != EEXIST)
      return not_opened(name);
    FileDescriptor next(::openat(at.get(), part.c_str(), kFolder));
    if (!next.valid()) return not_opened(name);
    at = std::move(next);
    rest.remove_prefix(slash + 1);
  }
  return Place{std::move(at), std::string(rest)};
}

Result<std::string> Workspace::read(std::string_view name) const {
  auto place = place_of(name, false);
  if (!place) return std::move(place).error();
  // Without blocking: a FIFO would wait for a writer.
  const FileDescriptor file(::openat(place->folder.get(), place->file.c_str(),
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found {};
  if (!file.valid() || ::fstat(file.get(), &found) != 0) return not_opened(name);
  if (!S_ISREG(found.st_mode)) return bad_name(name, "is no regular file");
  std::string content;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return not_opened(name);
    if (count == 0) return content;
    content.append(buffer, 0, static_cast<std::size_t>(count));
    if (content.size() > limits_.file_bytes) {
      return fail(ErrorCode::resource,
                  fmt::format("'{}' is larger than {} bytes", name, limits_.file_bytes));
    }
  }
}

Status Workspace::write(std::string_view name, std::string_view content) const {
  if (content.size() > limits_.file_bytes) {
    return fail(ErrorCode::resource,
                fmt::format("'{}' would be larger than {} bytes", name, limits_.file_bytes));
  }
  if (Status room = has_room(); !room) return room;
  auto place = place_of(name, true);
  if (!place) return std::move(place).error();
  const std::string written = fmt::format(".{}.{}", place->file.substr(0, 100), ::getpid());
  ::unlinkat(place->folder.get(), written.c_str(), 0);
  const FileDescriptor file(::openat(place->folder.get(), written.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                     kFileMode));
  if (!file.valid()) return not_opened(name);
  Status done = write_all(file.get(), content, name);
  if (done && ::renameat(place->folder.get(), written.c_str(), place->folder.get(),
                         place->file.c_str()) != 0)
    done = not_opened(name);
  if (!done) ::unlinkat(place->folder.get(), written.c_str(), 0);
  return done;
}

Status Workspace::append(std::string_view name, std::string_view content) const {
  if (Status room = has_room(); !room) return room;
  auto place = place_of(name, true);
  if (!place) return std::move(place).error();
  constexpr int kHow = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const FileDescriptor file(::openat(place->folder.get(), place->file.c_str(), kHow, kFileMode));
  struct stat found {};
  if (!file.valid() || ::fstat(file.get(), &found) != 0) return not_opened(name);
  if (!S_ISREG(found.st_mode)) return bad_name(name, "is no regular file");
  return write_all(file.get(), content, name);
}

Result<std::filesystem::path> Workspace::make_folder(std::string_view name) const {
  if (Status room = has_room(); !room) return std::move(room).error();
  // The folders on the way to a file in it.
  const auto place = place_of(std::string(name) + "/f", true);
  if (!place) return place.error();
  return folder_ / name;
}

bool Workspace::has(std::string_view name) const {
  auto place = place_of(name, false);
  struct stat found {};
  return place &&
         ::fstatat(place->folder.get(), place->file.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

Status Workspace::has_room() const {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk at(folder_, std::filesystem::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    ++files;
    std::error_code ignored;
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored)) bytes += at->file_size(ignored);
    if (files <= limits_.files && bytes <= limits_.bytes) continue;
    return fail(ErrorCode::resource,
                fmt::format("the workspace holds more than {} files or {} bytes; start "
                            "regraph-mcp with another one",
                            limits_.files, limits_.bytes));
  }
  return {};
}

}  // namespace regraph::agent
