#include "capture/device/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace regraph::capture {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(const std::filesystem::path& file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : kNoLimit;
}

}  // namespace

std::uint64_t spare_host_bytes(const std::filesystem::path& root) {
  std::uint64_t spare = kNoLimit;
  std::ifstream system(root / "proc/meminfo");
  for (std::string word; system >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && system >> kibibytes) spare = kibibytes << 10;
  }
  // Of the second version, as seen from inside of a container.
  const std::uint64_t limit = number_in(root / "sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in(root / "sys/fs/cgroup/memory.current");
  if (limit != kNoLimit && used != kNoLimit) spare = std::min(spare, limit - std::min(limit, used));
  return spare;
}

}  // namespace regraph::capture
