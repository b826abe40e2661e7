#include "ptx/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace regraph::ptx {
namespace {

// Device addresses are made up, the same in every process: faults and cache sets repeat exactly.
constexpr std::uint64_t kFirstAddress = 0x70'0000'0000ULL;
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

}  // namespace

struct DeviceMemory::State {
  std::vector<Region> regions;
  std::vector<std::size_t> mapped_bytes;
  std::uint64_t next = kFirstAddress;

  ~State() {
    for (std::size_t i = 0; i < regions.size(); ++i)
      munmap(regions[i].host, mapped_bytes[i]);
  }

  std::uint64_t add(std::string name, std::size_t bytes, BufferAccess access, void* host,
                    std::size_t mapped) {
    const std::uint64_t red_zone = std::max(kSmallestRedZone, round_up(bytes, kSmallestRedZone));
    const std::uint64_t begin = round_up(next + red_zone, kSmallestRedZone);
    regions.push_back(Region{begin, begin + bytes, access == BufferAccess::read_write,
                             static_cast<std::byte*>(host), std::move(name)});
    mapped_bytes.push_back(mapped);
    next = begin + bytes + red_zone;
    return begin;
  }
};

DeviceMemory::DeviceMemory() : state_(std::make_unique<State>()) {}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;

Result<std::uint64_t> DeviceMemory::allocate(std::string name, std::size_t bytes,
                                             BufferAccess access) {
  if (bytes > kLargestBuffer) {
    return fail(ErrorCode::resource,
                fmt::format("buffer '{}' of {} bytes is too large", name, bytes));
  }
  const std::size_t mapped = round_up(std::max<std::size_t>(bytes, 1), kPage);
  void* host = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) {
    return fail(ErrorCode::resource, fmt::format("cannot allocate {} bytes for buffer '{}': {}",
                                                 bytes, name, std::strerror(errno)));
  }
  return state_->add(std::move(name), bytes, access, host, mapped);
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
  const std::size_t mapped = round_up(std::max<std::size_t>(bytes, 1), kPage);
  // One file holds the pattern a few times and is mapped again and again.
  const std::size_t wanted = std::min(mapped, std::max(kUsualMapping, mapped / kMostMappings));
  const std::size_t chunk = round_up(wanted, pattern.size());
  const auto failure = [&](const char* what) {
    return fail(ErrorCode::resource,
                fmt::format("cannot {} for buffer '{}': {}", what, name, std::strerror(errno)));
  };
  const int file = memfd_create("regraph-pattern", MFD_CLOEXEC);
  if (file < 0) return failure("create a memory file");
  if (ftruncate(file, static_cast<off_t>(chunk)) != 0) {
    close(file);
    return failure("size a memory file");
  }
  void* filler = mmap(nullptr, chunk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* host = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool ok = filler != MAP_FAILED && host != MAP_FAILED;
  if (ok) {
    for (std::size_t at = 0; at < chunk; at += pattern.size()) {
      std::memcpy(static_cast<std::byte*>(filler) + at, pattern.data(), pattern.size());
    }
    for (std::size_t at = 0; ok && at < mapped; at += chunk) {
      ok = mmap(static_cast<std::byte*>(host) + at, std::min(chunk, mapped - at),
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file,
                0) != MAP_FAILED;
    }
  }
  if (filler != MAP_FAILED) munmap(filler, chunk);
  close(file);
  if (!ok) {
    const Error error = failure("map memory");
    if (host != MAP_FAILED) munmap(host, mapped);
    return error;
  }
  return state_->add(std::move(name), bytes, access, host, mapped);
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

std::span<const DeviceMemory::Region> DeviceMemory::regions() const {
  return state_->regions;
}

}  // namespace regraph::ptx
