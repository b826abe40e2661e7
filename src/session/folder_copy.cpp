#include "session/folder_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = ".regraph-check-";

bool stays_behind(const std::string& name) {
  constexpr std::array<std::string_view, 6> kNames = {".git", ".hg",          ".svn",
                                                      ".jj",  "regraph-runs", "regraph-capture"};
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with(kPrefix);
}

// make(1) compares the times of files.
void copy_times(const fs::path& from, const fs::path& to) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return;
  const timespec times[2] = {status.st_atim, status.st_mtim};
  (void)::utimensat(AT_FDCWD, to.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

class Copier {
 public:
  Copier(const CopyLimits& limits, const Cancellation& cancellation)
      : limits_(limits), cancellation_(cancellation) {}

  Status copy(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    for (auto entry = fs::directory_iterator(from, failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
      if (cancellation_.requested()) return fail(ErrorCode::cancelled, "interrupted");
      const std::string name = entry->path().filename().string();
      if (stays_behind(name)) continue;
      if (Status status = copy_one(*entry, to / name); !status) return status;
    }
    if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", from.string(), failed.message()));
    return {};
  }

  [[nodiscard]] std::vector<std::string>& left_out() { return left_out_; }

 private:
  Status copy_one(const fs::directory_entry& entry, const fs::path& to) {
    const fs::path& from = entry.path();
    std::error_code failed;
    if (entry.is_symlink(failed)) {
      fs::copy_symlink(from, to, failed);
    } else if (entry.is_directory(failed)) {
      fs::create_directory(to, failed);
      if (!failed) {
        if (Status status = copy(from, to); !status) return status;
        fs::permissions(to, entry.status().permissions() | fs::perms::owner_all, failed);
      }
    } else if (entry.is_regular_file(failed)) {
      const std::uint64_t bytes = entry.file_size(failed);
      if (bytes > limits_.file_bytes) {
        left_out_.push_back(
            fmt::format("{} was not copied: it has {} MiB", from.string(), bytes >> 20));
        return {};
      }
      bytes_ += bytes;
      if (bytes_ > limits_.all_bytes || ++files_ > limits_.files) {
        return fail(ErrorCode::resource, fmt::format("the folder has more than {} MiB or {} files",
                                                     limits_.all_bytes >> 20, limits_.files));
      }
      fs::copy_file(from, to, failed);
    } else {
      return {};  // sockets and the like
    }
    if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", from.string(), failed.message()));
    copy_times(from, to);
    return {};
  }

  const CopyLimits& limits_;
  const Cancellation& cancellation_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
  std::vector<std::string> left_out_;
};

}  // namespace

Result<std::vector<std::string>> copy_folder(const fs::path& from, const fs::path& to,
                                             const CopyLimits& limits,
                                             const Cancellation& cancellation) {
  Copier copier(limits, cancellation);
  if (Status status = copier.copy(from, to); !status) return status.error();
  return std::move(copier.left_out());
}

Result<TemporaryDirectory> folder_beside(const fs::path& folder, std::string& note) {
  auto beside = TemporaryDirectory::create(kPrefix, folder.parent_path());
  if (beside) return beside;
  note = fmt::format(
      "no folder could be made beside {}, so that the copy lies elsewhere: paths such as "
      "../common do not hold in it",
      folder.string());
  return TemporaryDirectory::create("regraph-check-");
}

void empty_folder(const fs::path& folder) {
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(folder, ignored);
       !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    std::error_code kept;
    fs::remove_all(entry->path(), kept);
  }
}

}  // namespace regraph
