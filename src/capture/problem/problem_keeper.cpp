#include "capture/problem/problem_keeper.h"

#include "capture/problem/launch_keeper.h"
#include "capture/problem/sequence_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace regraph::capture {

std::unique_ptr<ProblemKeeper> make_problem_keeper(const KeepOptions& options) {
  if (!options.sequence.empty()) return std::make_unique<SequenceKeeper>(options);
  return std::make_unique<LaunchKeeper>(options);
}

std::string folder_name_of(const std::string& kernel) {
  std::string name;
  for (const char c : kernel) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain || c == '_' || c == '+') {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-')
    name.pop_back();
  constexpr std::size_t kLongest = 80;
  return name.empty() ? "kernel" : name.substr(0, kLongest);
}

std::filesystem::path make_problem_folder(const std::filesystem::path& parent,
                                          const std::string& name) {
  std::filesystem::path path = parent / name;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(path, ignored); ++number)
    path = parent / fmt::format("{}-{}", name, number);
  std::filesystem::create_directories(path / kCapturedData, ignored);
  return path;
}

double seconds_of_all(std::vector<double> seconds, std::uint64_t launches) {
  if (seconds.empty()) return 0.0;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle * static_cast<double>(launches);
}

void sort_launches(std::vector<KeptLaunch>& launches) {
  std::ranges::stable_sort(launches, [](const KeptLaunch& a, const KeptLaunch& b) {
    if (a.run != b.run) return a.run < b.run;
    return a.threads() > b.threads();
  });
}

}  // namespace regraph::capture
