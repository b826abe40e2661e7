#include "report/page/run_files.h"

#include "base/files.h"
#include "report/page/run_rows.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace regraph {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

// The file's content; empty where there is none.
Result<std::string> read_if_there(const std::filesystem::path& path) {
  Result<std::string> content = read_file(path, kLargestFile);
  if (!content && content.error().code == ErrorCode::not_found) return std::string();
  return content;
}

}  // namespace

Result<RunFiles> read_run_files(const std::filesystem::path& directory) {
  std::error_code ignored;
  const std::string shown = directory.string();
  if (!std::filesystem::is_directory(directory, ignored)) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' is no directory; name the directory of a run", shown));
  }
  const bool finished = std::filesystem::is_regular_file(directory / "result.json", ignored);
  const bool recorded = std::filesystem::is_regular_file(directory / "run.db", ignored);
  if (!finished && !recorded) {
    return fail(
        ErrorCode::not_found,
        fmt::format("'{}' holds no run: there is neither result.json nor run.db in it; name "
                    "the directory of a run, as --output did or as its result says",
                    shown));
  }
  RunFiles files;
  const char* const best =
      std::filesystem::exists(directory / "best.py", ignored) ? "best.py" : "best.cu";
  for (auto [text, name] : {std::pair{&files.result, "result.json"}, {&files.best, best}}) {
    Result<std::string> content = read_if_there(directory / name);
    if (!content) return content.error();
    *text = std::move(*content);
  }
  if (recorded) {
    if (Status read = read_run_rows(directory / "run.db", files); !read) return read.error();
    files.has_database = true;
  }
  return files;
}

}  // namespace regraph
