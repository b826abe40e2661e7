#include "source/local_includes.h"

#include "base/files.h"
#include "kernel/pytorch_headers.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace regraph::source {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kDeepestInclude = 32;

// "cub/cub.cuh" of "3rdparty/cub/cub.cuh"; empty for headers that are none of cub's.
std::string header_of_cub(const std::string& header) {
  const std::size_t slash = header.rfind("/cub/");
  const std::string own = header.starts_with("cub/")   ? header
                          : slash == std::string::npos ? ""
                                                       : header.substr(slash + 1);
  const bool is_known = own == "cub/cub.cuh" || own.starts_with("cub/block/") ||
                        own.starts_with("cub/warp/") || own.starts_with("cub/util_") ||
                        own.starts_with("cub/device/");
  return is_known ? own : "";
}

class Inliner {
 public:
  Inliner(const fs::path& file, const std::vector<fs::path>& folders,
          const std::vector<fs::path>& angle_folders)
      : folders_(folders), angle_folders_(angle_folders) {
    fs::path own = file.parent_path();
    if (own.empty()) own = ".";
    folders_.insert(folders_.begin(), own);
  }

  Result<std::string> inline_all(std::string_view text, const std::string& name,
                                 const fs::path& folder, int depth) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    std::string result;
    std::size_t copied = 0;
    for (const Token& token : tokenize(text)) {
      const std::string_view directive = token.in(text);
      if (token.kind != TokenKind::directive || directive_name(directive) != "include") continue;
      const std::size_t open = directive.find_first_of("\"<");
      if (open == std::string_view::npos) continue;
      const bool angle = directive[open] == '<';
      const std::size_t close = directive.find(angle ? '>' : '"', open + 1);
      if (close == std::string_view::npos) continue;
      const std::string header(directive.substr(open + 1, close - open - 1));
      // Megabytes of host code; what device code takes of them is known (library_headers.h).
      if (angle && is_header_of_pytorch(header)) continue;
      if (const std::string own = header_of_cub(header); !angle && !own.empty()) {
        // A copy of megabytes that the toolkit has, too.
        result += text.substr(copied, token.begin - copied);
        result += fmt::format("#include <{}>", own);
        copied = token.end;
        continue;
      }
      const std::string where = fmt::format("{}:{}: #include {}: ", name, token.line,
                                            directive.substr(open, close + 1 - open));
      auto path =
          angle ? Result<fs::path>(find_in(angle_folders_, header)) : find(header, folder, where);
      if (!path) return std::move(path).error();
      if (path->empty()) continue;
      result += text.substr(copied, token.begin - copied);
      copied = token.end;
      if (!seen_.insert(path->string()).second) continue;
      opened_.push_back(*path);
      if (depth == kDeepestInclude) {
        return fail(ErrorCode::resource, where + "headers are nested too deeply");
      }
      auto content = read_file(*path, kMostBytes);
      if (!content) return fail(content.error().code, where + content.error().message);
      auto inner = inline_all(*content, header, path->parent_path(), depth + 1);
      if (!inner) return inner;
      result += fmt::format("#line 1 \"{}\"\n{}\n#line {} \"{}\"", header, *inner,
                            token.line + std::ranges::count(directive, '\n') + 1, name);
      if (result.size() > kMostBytes) {
        return fail(
            ErrorCode::resource,
            fmt::format("{}with its headers the file has more than {} bytes", where, kMostBytes));
      }
    }
    result += text.substr(copied);
    return result;
  }

  [[nodiscard]] const std::vector<fs::path>& opened() const { return opened_; }

 private:
  // The header's canonical path; empty when it is in none of the folders.
  Result<fs::path> find(const std::string& header, const fs::path& folder,
                        const std::string& where) const {
    std::vector<fs::path> places = {folder / header};
    for (const fs::path& other : folders_)
      places.push_back(other / header);
    for (const fs::path& place : places) {
      std::error_code error;
      const fs::path path = fs::canonical(place, error);
      if (error) continue;
      if (!is_below_a_folder(path)) {
        return fail(ErrorCode::invalid_argument,
                    where +
                        "only headers in the kernel's folder or below it are read; name "
                        "another folder with --include-dir");
      }
      if (!fs::is_regular_file(path, error)) {
        return fail(ErrorCode::invalid_argument, where + "this is not a regular file");
      }
      return path;
    }
    if (fs::path(header).is_absolute()) {
      return fail(ErrorCode::invalid_argument, where + "there is no such file");
    }
    return fs::path();
  }

  // A system's header is none of ours: it is left alone wherever it lies.
  static fs::path find_in(const std::vector<fs::path>& folders, const std::string& header) {
    for (const fs::path& folder : folders) {
      std::error_code error;
      fs::path path = fs::canonical(folder / header, error);
      if (!error && fs::is_regular_file(path, error)) return path;
    }
    return {};
  }

  [[nodiscard]] bool is_below_a_folder(const fs::path& path) const {
    return std::ranges::any_of(folders_, [&](const fs::path& folder) {
      std::error_code error;
      const fs::path root = fs::canonical(folder, error);
      if (error) return false;
      const auto [left, right] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
      return left == root.end();
    });
  }

  std::vector<fs::path> folders_;
  const std::vector<fs::path>& angle_folders_;
  std::set<std::string> seen_;
  std::vector<fs::path> opened_;
};

}  // namespace

Result<std::string> inline_local_includes(const std::string& text, const fs::path& file,
                                          const std::vector<fs::path>& folders,
                                          const std::vector<fs::path>& angle_folders) {
  return Inliner(file, folders, angle_folders)
      .inline_all(text, file.filename().string(), file.parent_path(), 0);
}

std::vector<fs::path> local_includes(const std::string& text, const fs::path& file,
                                     const std::vector<fs::path>& folders,
                                     const std::vector<fs::path>& angle_folders) {
  Inliner inliner(file, folders, angle_folders);
  (void)inliner.inline_all(text, file.filename().string(), file.parent_path(), 0);
  return inliner.opened();
}

}  // namespace regraph::source
