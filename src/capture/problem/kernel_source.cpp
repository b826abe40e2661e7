#include "capture/problem/kernel_source.h"

#include "base/files.h"
#include "capture/kernel_image.h"
#include "capture/problem/captured_kernel.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace regraph::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;  // folders below
constexpr std::size_t kMostFiles = 5000;
constexpr std::size_t kLargestSource = std::size_t{1} << 20;
constexpr int kMostIncludes = 64;
constexpr const char* kRunDatabase = "run.db";  // in folders of runs

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether the text has "__global__", and after it before any '{' or ';' the name in front of a '('.
bool defines(std::string_view text, std::string_view name) {
  constexpr std::string_view kGlobal = "__global__";
  for (std::size_t at = text.find(kGlobal); at != std::string_view::npos;
       at = text.find(kGlobal, at + 1)) {
    const std::size_t end = text.find('{', at);
    const std::string_view head = text.substr(at, end == std::string_view::npos ? end : end - at);
    for (std::size_t found = head.find(name); found != std::string_view::npos;
         found = head.find(name, found + 1)) {
      std::size_t after = found + name.size();
      while (after < head.size() && std::isspace(static_cast<unsigned char>(head[after])) != 0)
        ++after;
      const bool begins = found > 0 && !is_word(head[found - 1]);
      if (begins && after < head.size() && head[after] == '(') return true;
    }
  }
  return false;
}

// Files that `text` includes with quotes, beside it.
std::vector<fs::path> own_headers(std::string_view text, const fs::path& folder) {
  std::vector<fs::path> headers;
  constexpr std::string_view kInclude = "#include";
  for (std::size_t at = text.find(kInclude); at != std::string_view::npos;
       at = text.find(kInclude, at + 1)) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::size_t first = text.find('"', at);
    if (first >= line_end) continue;
    const std::size_t last = text.find('"', first + 1);
    if (last >= line_end) continue;
    headers.push_back(folder / std::string(text.substr(first + 1, last - first - 1)));
  }
  return headers;
}

// Levels of headers between the file and the definition; -1: it has none.
int distance_to_definition(const fs::path& file, const std::string& name,
                           std::set<fs::path>& seen) {
  if (seen.size() >= kMostIncludes || !seen.insert(file.lexically_normal()).second) return -1;
  const auto text = read_file(file, kLargestSource);
  if (!text.ok()) return -1;
  if (defines(*text, name)) return 0;
  int nearest = -1;
  for (const fs::path& header : own_headers(*text, file.parent_path())) {
    const int distance = distance_to_definition(header, name, seen);
    if (distance >= 0 && (nearest < 0 || distance + 1 < nearest)) nearest = distance + 1;
  }
  return nearest;
}

int rank_of_ending(const fs::path& file) {
  constexpr std::string_view kEndings[] = {".cu", ".cpp", ".cc", ".cxx"};
  const auto found = std::ranges::find(kEndings, file.extension().string());
  return found == std::end(kEndings) ? -1 : static_cast<int>(found - std::begin(kEndings));
}

// What ReGraph wrote: a captured kernel's source, a run's best kernel.
bool is_own_file(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file.parent_path() / kCaptureFile, ignored) ||
         fs::exists(file.parent_path() / kRunDatabase, ignored);
}

}  // namespace

std::string kernel_name_of(const std::string& symbol) {
  std::string name = readable_name(symbol);
  // To the '(' of the parameters: the first outside of template arguments.
  int angles = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool anonymous = name.compare(i, 21, "(anonymous namespace)") == 0;
    if (anonymous) {
      i += 20;
      continue;
    }
    const char c = name[i];
    if (c == '<') ++angles;
    if (c == '>') --angles;
    if (angles > 0) continue;
    if (c == '(') return name.substr(begin, i - begin);
    if (c == ' ') begin = i + 1;                                 // after "void"
    if (c == ':' && i > 0 && name[i - 1] == ':') begin = i + 1;  // after a namespace
  }
  return name.substr(begin);
}

std::string qualified_name_of(const std::string& symbol) {
  const std::string readable = readable_name(symbol);
  const std::string name = kernel_name_of(symbol);
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  // What stands in front of the name, after "void" or a template's return type.
  const std::size_t end = readable.rfind(name + "(");
  std::string path = end == std::string::npos ? "" : readable.substr(0, end);
  for (std::size_t at = path.find(kNameless); at != std::string::npos; at = path.find(kNameless))
    path.erase(at, kNameless.size());
  path = path.substr(path.rfind(' ') + 1);
  // Templates as namespaces are classes, whose kernels cannot be cut out anyway.
  return path.find('<') == std::string::npos ? path + name : name;
}

std::string plain_name_of(const std::string& symbol) {
  const std::string name = kernel_name_of(symbol);
  return name.substr(0, name.find('<'));
}

std::vector<KernelSource> find_kernel_source(const fs::path& folder, const std::string& symbol) {
  const std::string name = plain_name_of(symbol);
  struct Candidate {
    bool is_part = false;
    int distance = 0;
    int depth = 0;
    fs::path path;
    std::set<fs::path> includes;
    [[nodiscard]] auto order() const { return std::tie(is_part, distance, depth, path); }
  };
  std::vector<Candidate> found;
  std::error_code failed;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, failed);
  std::size_t files = 0;
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    if (++files > kMostFiles) break;
    const int rank = rank_of_ending(entry->path());
    if (rank < 0 || !entry->is_regular_file(failed) || is_own_file(entry->path())) continue;
    std::set<fs::path> seen;
    const int distance = distance_to_definition(entry->path(), name, seen);
    if (distance < 0) continue;
    found.push_back({false, distance + rank, entry.depth(), entry->path(), std::move(seen)});
  }
  for (Candidate& one : found) {
    const fs::path path = one.path.lexically_normal();
    one.is_part = std::ranges::any_of(found, [&](const Candidate& other) {
      return &other != &one && other.includes.contains(path) &&
             !one.includes.contains(other.path.lexically_normal());
    });
  }
  std::ranges::sort(found, {}, &Candidate::order);
  std::vector<KernelSource> sources;
  sources.reserve(found.size());
  for (Candidate& one : found)
    sources.push_back({std::move(one.path), one.is_part});
  return sources;
}

}  // namespace regraph::capture
