#include "session/winner_patch.h"

#include "base/files.h"
#include "base/unified_diff.h"
#include "handback/hand_back.h"
#include "handback/kernel_change.h"
#include "loops/function_text.h"
#include "source/local_includes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSourceBytes = std::size_t{1} << 20;
constexpr std::size_t kMostFiles = 2000;  // of a folder, looked through for further launches
constexpr int kDeepest = 4;

struct FileOnDisk {
  fs::path path;  // canonical
  std::string text;
};

bool is_source(const fs::path& file) {
  constexpr std::array<std::string_view, 9> kEndings = {".cu", ".cuh", ".cpp", ".cc", ".cxx",
                                                        ".h",  ".hpp", ".hh",  ".inl"};
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

// Programs of a suite share headers beside their folders.
std::vector<fs::path> header_folders(const fs::path& file, std::vector<fs::path> folders) {
  constexpr int kLevels = 3;
  constexpr std::ptrdiff_t kFewestNames = 3;  // "/home/user": not all that is below there
  fs::path folder = file.parent_path();
  for (int level = 0; level < kLevels; ++level) {
    folder = folder.parent_path();
    if (std::distance(folder.begin(), folder.end()) <= kFewestNames) break;
    folders.push_back(folder);
  }
  return folders;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [left, right] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return left == folder.end();
}

class PatchMaker {
 public:
  PatchMaker(const OpenedProblem& opened, const Candidate& winner,
             const std::vector<fs::path>& folders, std::string speedup)
      : opened_(opened), winner_(winner), folders_(folders), speedup_(std::move(speedup)) {}

  WinnerPatch run() {
    const Status done = make();
    if (!done) patch_.report.why_not = done.error().message + by_hand();
    return std::move(patch_);
  }

 private:
  Status make() {
    if (Status status = read_files(); !status) return status;
    handback::HandBackRequest request{
        opened_.problem, winner_, {}, remarks(), opened_.capture.has_value()};
    for (const FileOnDisk& file : files_)
      request.files.push_back({name_of(file.path), file.text});
    auto handed = handback::hand_back(request);
    if (!handed) return handed.error();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (handed->texts[i] != files_[i].text)
        patch_.files.push_back({files_[i].path, std::move(handed->texts[i])});
    }
    choose_root();
    for (const PatchedFile& file : patch_.files) {
      const std::string name = name_of(file.path);
      const auto before = std::ranges::find(files_, file.path, &FileOnDisk::path);
      // A blank would end the name for patch; a tab behind it does.
      const char* const end = name.find(' ') == std::string::npos ? "" : "\t";
      patch_.report.patch += unified_diff(before->text, file.text, fmt::format("a/{}{}", name, end),
                                          fmt::format("b/{}{}", name, end));
      patch_.report.files.push_back(name);
    }
    for (handback::ChangedLaunch& launch : handed->launches)
      patch_.report.launches.push_back(
          {std::move(launch.file), launch.line, std::move(launch.before), std::move(launch.after)});
    patch_.report.notes = std::move(handed->notes);
    return {};
  }

  Status read_files() {
    patch_.source = user_source(opened_);
    std::error_code failed;
    const fs::path path = fs::canonical(patch_.source, failed);
    if (patch_.source.empty() || failed) {
      return fail(ErrorCode::not_found,
                  fmt::format("the file that the kernel was cut from, '{}', is not there",
                              patch_.source.string()));
    }
    patch_.source = path;
    root_ = fs::canonical(fs::current_path(failed), failed);
    if (!is_below(path, root_)) {
      root_ = path.parent_path();
      patch_.report.folder = root_.string();
    }
    if (!is_source(path))
      return fail(ErrorCode::unsupported, path.filename().string() + " is no C++ file");
    auto text = read_file(path, kMostSourceBytes);
    if (!text) return text.error();
    if (loops::is_sequential_file(path.string()) && text->find("__global__") == std::string::npos) {
      return fail(ErrorCode::unsupported,
                  path.filename().string() + " is sequential C++, which launches nothing");
    }
    const auto folders = header_folders(path, folders_);
    files_.push_back({path, *text});
    for (const fs::path& header : source::local_includes(*text, path, folders))
      add(header);
    add_launching_files(path.parent_path());
    return {};
  }

  void add(const fs::path& path) {
    auto text = read_file(path, kMostSourceBytes);
    if (text) files_.push_back({path, *std::move(text)});
  }

  // Other files of the folder that launch this very kernel: they declare it, or include a file
  // that was read already, and do not define one of their own.
  void add_launching_files(const fs::path& folder) {
    std::error_code failed;
    auto entry = fs::recursive_directory_iterator(
        folder, fs::directory_options::skip_permission_denied, failed);
    std::vector<fs::path> found;
    for (std::size_t seen = 0; !failed && entry != fs::recursive_directory_iterator();
         entry.increment(failed)) {
      if (++seen > kMostFiles) break;
      const std::string name = entry->path().filename().string();
      const bool hidden = name.starts_with(".") || name.starts_with("regraph-");
      if (entry->is_directory(failed) && (hidden || entry.depth() >= kDeepest))
        entry.disable_recursion_pending();
      if (entry->is_regular_file(failed) && is_source(entry->path()))
        found.push_back(fs::weakly_canonical(entry->path(), failed));
    }
    std::ranges::sort(found);
    const std::vector<FileOnDisk> own = files_;
    for (const fs::path& path : found) {
      if (!is_own(own, path) && launches_ours(path, own)) add(path);
    }
  }

  static bool is_own(const std::vector<FileOnDisk>& own, const fs::path& path) {
    return std::ranges::find(own, path, &FileOnDisk::path) != own.end();
  }

  [[nodiscard]] bool launches_ours(const fs::path& path, const std::vector<FileOnDisk>& own) const {
    const KernelSignature& kernel = opened_.problem.signature;
    const auto text = read_file(path, kMostSourceBytes);
    const std::string name = source::unqualified_name(kernel.name);
    if (!text || text->find(name) == std::string::npos || text->find("<<<") == std::string::npos)
      return false;
    if (handback::find_kernel_uses(*text, kernel).sites.empty()) return false;
    bool ours = false;
    for (const auto& one : handback::find_definitions(*text, name)) {
      if (one.has_body) return false;
      ours = true;
    }
    for (const fs::path& header :
         source::local_includes(*text, path, header_folders(path, folders_))) {
      ours = ours || is_own(own, header);
    }
    return ours;
  }

  // Files are named from the current folder where those that change lie below it, else from their
  // own.
  void choose_root() {
    const auto all_below = [&] {
      return std::ranges::all_of(
          patch_.files, [&](const PatchedFile& file) { return is_below(file.path, root_); });
    };
    if (patch_.report.folder.empty() && all_below()) return;
    root_ = patch_.source.parent_path();
    while (root_.has_relative_path() && !all_below())
      root_ = root_.parent_path();
    patch_.report.folder = root_.string();
  }

  [[nodiscard]] std::string name_of(const fs::path& file) const {
    return file.lexically_relative(root_).generic_string();
  }

  [[nodiscard]] std::vector<std::string> remarks() const {
    std::vector<std::string> lines = {
        fmt::format("Made faster by ReGraph: {} on {}.", speedup_, opened_.device.device.name)};
    if (const Launch* launch = winner_.plan.launch_of(opened_.problem.signature.name))
      lines.push_back(fmt::format("Launch it with {}.", handback::launch_text(*launch)));
    for (const std::string& assumption : winner_.assumptions)
      lines.push_back("It relies on this: " + assumption + ".");
    for (const std::string& content : opened_.problem.constant_contents())
      lines.push_back("It was not tested otherwise: " + content + ".");
    for (const std::string& fixed : opened_.problem.held_fixed)
      lines.push_back("It was not tested otherwise: " + fixed + ".");
    return lines;
  }

  // Old and new launch, for whoever does it without a patch.
  [[nodiscard]] std::string by_hand() const {
    const std::string& name = opened_.problem.signature.name;
    const Launch* before = opened_.problem.launch.launch_of(name);
    const Launch* after = winner_.plan.launch_of(name);
    if (before == nullptr || after == nullptr) return "";
    if (handback::LaunchBeforeAndAfter{opened_.problem, *before, *after}.same()) {
      return fmt::format(
          "; by hand: put the kernel of best.cu in, and launch it as before, with {}",
          handback::launch_text(*before));
    }
    return fmt::format(
        "; by hand: put the kernel of best.cu in, and launch it with {} instead of {}",
        handback::launch_text(*after), handback::launch_text(*before));
  }

  const OpenedProblem& opened_;
  const Candidate& winner_;
  const std::vector<fs::path>& folders_;
  const std::string speedup_;
  std::vector<FileOnDisk> files_;
  fs::path root_;
  WinnerPatch patch_;
};

}  // namespace

fs::path user_source(const OpenedProblem& opened) {
  return opened.capture ? fs::path(opened.capture->source) : fs::path(opened.problem.source_path);
}

WinnerPatch make_winner_patch(const OpenedProblem& opened, const Candidate& winner,
                              const std::vector<fs::path>& folders, const std::string& speedup) {
  if (opened.triton) {
    WinnerPatch none;
    none.report.why_not =
        "Python files are not patched: take the kernel of best.py, and launch it with the "
        "constants, grid, num_warps, num_stages and num_ctas of the comment above it";
    return none;
  }
  return PatchMaker(opened, winner, folders, speedup).run();
}

}  // namespace regraph
