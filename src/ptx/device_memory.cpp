#include "ptx/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::ptx {
namespace {

// Device addresses are made up, for one placement the same in every process: faults and cache sets
// repeat exactly. They have 47 bits, as those that CUDA gives on x86-64.
constexpr std::uint64_t kFirstAddress = 0x7e00'0000'0000ULL;
constexpr std::uint64_t kPlacements = std::uint64_t{1} << 19;
// The red zone grows with the buffer, so that an index wrong by a whole row or panel still misses
// every other buffer. Addresses cost nothing.
constexpr std::uint64_t kSmallestRedZone = 2ULL << 20;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargestBuffer = 1ULL << 38;
// A process may hold about 65,000 mappings; a pattern buffer takes at most this many.
constexpr std::size_t kMostMappings = 1024;
constexpr std::size_t kUsualMapping = 4ULL << 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

std::size_t mapped_size(std::size_t bytes) {
  return round_up(std::max<std::size_t>(bytes, 1), kPage);
}

Error mapping_failure(const char* what, const std::string& name) {
  return {ErrorCode::resource,
          fmt::format("cannot {} for buffer '{}': {}", what, name, std::strerror(errno))};
}

}  // namespace

// A file in memory that holds a pattern a few times and is mapped again and again.
struct DeviceMemory::PatternFile {
  PatternFile() = default;
  ~PatternFile() {
    if (descriptor >= 0) close(descriptor);
  }
  PatternFile(const PatternFile&) = delete;
  PatternFile& operator=(const PatternFile&) = delete;

  int descriptor = -1;
  std::size_t bytes = 0;
};

struct DeviceMemory::State {
  // What stands behind a region.
  struct Backing {
    std::size_t mapped_bytes = 0;                // 0: another memory's
    std::shared_ptr<const PatternFile> pattern;  // null: zeros, or nobody may write
  };
  std::vector<Region> regions;
  std::vector<Backing> backings;
  std::uint64_t first = kFirstAddress;  // where the placement begins
  std::uint64_t next = kFirstAddress;

  ~State() {
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (backings[i].mapped_bytes > 0) munmap(regions[i].host, backings[i].mapped_bytes);
  }

  std::uint64_t add(std::string name, std::size_t bytes, BufferAccess access, void* host,
                    Backing backing) {
    const std::uint64_t red_zone = std::max(kSmallestRedZone, round_up(bytes, kSmallestRedZone));
    const std::uint64_t begin = round_up(next + red_zone, kSmallestRedZone);
    regions.push_back(Region{begin, begin + bytes, access == BufferAccess::read_write,
                             static_cast<std::byte*>(host), std::move(name), 0});
    backings.push_back(std::move(backing));
    next = begin + bytes + red_zone;
    return begin;
  }
};

DeviceMemory::DeviceMemory(std::uint64_t placement) : state_(std::make_unique<State>()) {
  state_->first = kFirstAddress + placement % kPlacements * kSmallestRedZone;
  state_->next = state_->first;
}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;

Result<std::uint64_t> DeviceMemory::allocate(std::string name, std::size_t bytes,
                                             BufferAccess access) {
  if (bytes > kLargestBuffer) {
    return fail(ErrorCode::resource,
                fmt::format("buffer '{}' of {} bytes is too large", name, bytes));
  }
  const std::size_t mapped = mapped_size(bytes);
  void* host = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) {
    return fail(ErrorCode::resource, fmt::format("cannot allocate {} bytes for buffer '{}': {}",
                                                 bytes, name, std::strerror(errno)));
  }
  return state_->add(std::move(name), bytes, access, host, {mapped, nullptr});
}

Result<std::shared_ptr<const DeviceMemory::PatternFile>> DeviceMemory::make_pattern_file(
    const std::string& name, std::size_t mapped, std::span<const std::byte> pattern) {
  const std::size_t wanted = std::min(mapped, std::max(kUsualMapping, mapped / kMostMappings));
  auto file = std::make_shared<PatternFile>();
  file->bytes = round_up(wanted, pattern.size());
  file->descriptor = memfd_create("regraph-pattern", MFD_CLOEXEC);
  if (file->descriptor < 0) return mapping_failure("create a memory file", name);
  if (ftruncate(file->descriptor, static_cast<off_t>(file->bytes)) != 0) {
    return mapping_failure("size a memory file", name);
  }
  void* filler =
      mmap(nullptr, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
  if (filler == MAP_FAILED) return mapping_failure("map memory", name);
  for (std::size_t at = 0; at < file->bytes; at += pattern.size()) {
    std::memcpy(static_cast<std::byte*>(filler) + at, pattern.data(), pattern.size());
  }
  munmap(filler, file->bytes);
  return std::shared_ptr<const PatternFile>(std::move(file));
}

// Private copy-on-write pages.
Result<void*> DeviceMemory::map_pattern(const std::string& name, std::size_t mapped,
                                        const PatternFile& file) {
  void* host = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) return mapping_failure("map memory", name);
  for (std::size_t at = 0; at < mapped; at += file.bytes) {
    if (mmap(static_cast<std::byte*>(host) + at, std::min(file.bytes, mapped - at),
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file.descriptor,
             0) == MAP_FAILED) {
      const Error error = mapping_failure("map memory", name);
      munmap(host, mapped);
      return error;
    }
  }
  return host;
}

Result<std::uint64_t> DeviceMemory::allocate_pattern(std::string name, std::size_t bytes,
                                                     BufferAccess access,
                                                     std::span<const std::byte> pattern) {
  if (pattern.empty() || pattern.size() % kPage != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the pattern of buffer '{}' has {} bytes, not a multiple of {}", name,
                            pattern.size(), kPage));
  }
  if (bytes > kLargestBuffer) {
    return fail(ErrorCode::resource,
                fmt::format("buffer '{}' of {} bytes is too large", name, bytes));
  }
  const std::size_t mapped = mapped_size(bytes);
  auto file = make_pattern_file(name, mapped, pattern);
  if (!file.ok()) return file.error();
  const Result<void*> host = map_pattern(name, mapped, **file);
  if (!host.ok()) return host.error();
  // A twin shares what nobody may write, so the file need not stay.
  if (access == BufferAccess::read_only) file->reset();
  return state_->add(std::move(name), bytes, access, *host, {mapped, *std::move(file)});
}

Status DeviceMemory::adopt(std::string name, std::uint64_t address, std::span<std::byte> host,
                           std::size_t slack) {
  std::vector<Region>& regions = state_->regions;
  const auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  const bool overlaps =
      (after != regions.end() && after->begin - address < host.size()) ||
      (after != regions.begin() && std::prev(after)->end + std::prev(after)->slack > address);
  if (host.size() <= slack || overlaps) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("buffer '{}' of {} bytes at {:#x} is empty or overlaps another", name,
                            host.size(), address));
  }
  state_->backings.insert(state_->backings.begin() + (after - regions.begin()), State::Backing{});
  regions.insert(after, Region{address, address + host.size() - slack, true, host.data(),
                               std::move(name), slack});
  return {};
}

bool DeviceMemory::release(std::uint64_t address) {
  const auto region = std::ranges::find(state_->regions, address, &Region::begin);
  if (region == state_->regions.end()) return false;
  const auto backing = state_->backings.begin() + (region - state_->regions.begin());
  if (backing->mapped_bytes > 0) return false;
  state_->backings.erase(backing);
  state_->regions.erase(region);
  return true;
}

Result<DeviceMemory> DeviceMemory::twin() const {
  DeviceMemory memory;
  memory.state_->first = state_->first;
  memory.state_->next = state_->first;
  for (std::size_t i = 0; i < state_->regions.size(); ++i) {
    const Region& region = state_->regions[i];
    const State::Backing& backing = state_->backings[i];
    const std::size_t bytes = region.end - region.begin;
    if (!region.writable) {
      memory.state_->add(region.name, bytes, BufferAccess::read_only, region.host, {});
    } else if (backing.pattern == nullptr) {
      const auto address = memory.allocate(region.name, bytes, BufferAccess::read_write);
      if (!address.ok()) return address.error();
    } else {
      const Result<void*> host = map_pattern(region.name, backing.mapped_bytes, *backing.pattern);
      if (!host.ok()) return host.error();
      memory.state_->add(region.name, bytes, BufferAccess::read_write, *host, backing);
    }
  }
  return memory;
}

std::span<std::byte> DeviceMemory::view(std::uint64_t address) {
  for (const Region& region : state_->regions) {
    if (region.begin == address) return {region.host, region.end - region.begin};
  }
  return {};
}

std::span<const std::byte> DeviceMemory::view(std::uint64_t address) const {
  return const_cast<DeviceMemory*>(this)->view(address);
}

void DeviceMemory::allow_races(std::uint64_t address) {
  const auto region = std::ranges::find(state_->regions, address, &Region::begin);
  if (region != state_->regions.end()) region->races_allowed = true;
}

std::span<const DeviceMemory::Region> DeviceMemory::regions() const {
  return state_->regions;
}

}  // namespace regraph::ptx
