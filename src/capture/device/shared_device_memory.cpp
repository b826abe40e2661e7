#include "capture/device/shared_device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace regraph::capture {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kDeviceGranule = 512;  // of cudaMalloc
// Between buffers: an index that is wrong by a row misses every other buffer.
constexpr std::uint64_t kRedZone = 2ULL << 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

SharedDeviceMemory::~SharedDeviceMemory() {
  for (const auto& [address, buffer] : buffers_)
    unmap(buffer);
}

Result<const SharedBuffer*> SharedDeviceMemory::allocate(std::uint64_t bytes, MemoryKind kind) {
  SharedBuffer buffer;
  buffer.bytes = bytes;
  buffer.kind = kind;
  // More is refused, and would overflow.
  if (bytes <= limit_bytes_) {
    buffer.usable_bytes = round_up(bytes, kDeviceGranule);
    buffer.mapped_bytes = round_up(bytes, kPage);
  }
  buffer.address = next_address_;
  auto added = add(std::move(buffer), 0);
  if (added) {
    const std::uint64_t end = (*added)->address + (*added)->mapped_bytes;
    next_address_ = round_up(end + std::max(kRedZone, bytes), kRedZone);
  }
  return added;
}

Result<const SharedBuffer*> SharedDeviceMemory::register_host(const HostMemory& memory) {
  const std::uint64_t offset = memory.address - memory.mapped_begin;
  if (memory.mapped_begin % kPage != 0 || memory.mapped_bytes % kPage != 0 ||
      offset > memory.mapped_bytes || memory.bytes > memory.mapped_bytes - offset ||
      memory.mapped_begin + memory.mapped_bytes < memory.mapped_begin ||
      memory.mapped_bytes > limit_bytes_) {
    return fail(ErrorCode::invalid_argument, "memory that lies on no such pages");
  }
  SharedBuffer buffer;
  buffer.bytes = buffer.usable_bytes = memory.bytes;
  buffer.mapped_bytes = memory.mapped_bytes;
  buffer.kind = MemoryKind::pinned;
  buffer.address = memory.address;
  return add(std::move(buffer), offset);
}

Result<const SharedBuffer*> SharedDeviceMemory::add(SharedBuffer buffer, std::uint64_t offset) {
  const std::uint64_t bytes = buffer.bytes;
  if (bytes == 0 || bytes > limit_bytes_ - std::min(used_bytes_, limit_bytes_)) {
    return fail(ErrorCode::resource,
                fmt::format("no {} bytes of device memory: {} of {} are in use", bytes, used_bytes_,
                            limit_bytes_));
  }
  buffer.id = next_id_;
  buffer.file =
      FileDescriptor(::memfd_create("regraph-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  void* mapped = MAP_FAILED;
  // Sealed: a program that shrinks it would end this process, too.
  if (buffer.file.valid() &&
      ::ftruncate(buffer.file.get(), static_cast<off_t>(buffer.mapped_bytes)) == 0 &&
      ::fcntl(buffer.file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    mapped = ::mmap(nullptr, buffer.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                    buffer.file.get(), 0);
  }
  if (mapped == MAP_FAILED) {
    return fail(ErrorCode::resource, fmt::format("cannot map {} bytes of device memory: {}", bytes,
                                                 std::strerror(errno)));
  }
  buffer.mapping = static_cast<std::byte*>(mapped);
  buffer.host = buffer.mapping + offset;
  const Status adopted =
      memory_.adopt(fmt::format("allocation {}", buffer.id), buffer.address,
                    {buffer.host, buffer.usable_bytes}, buffer.usable_bytes - bytes);
  if (!adopted) {
    unmap(buffer);
    return adopted.error();
  }
  ++next_id_;
  used_bytes_ += bytes;
  most_bytes_ = std::max(most_bytes_, used_bytes_);
  const std::uint64_t address = buffer.address;
  return &buffers_.emplace(address, std::move(buffer)).first->second;
}

bool SharedDeviceMemory::release(std::uint64_t address) {
  const auto place = buffers_.find(address);
  if (place == buffers_.end()) return false;
  (void)memory_.release(address);
  used_bytes_ -= place->second.bytes;
  unmap(place->second);
  buffers_.erase(place);
  return true;
}

const SharedBuffer* SharedDeviceMemory::find(std::uint64_t address) const {
  auto place = buffers_.upper_bound(address);
  if (place == buffers_.begin()) return nullptr;
  --place;
  return address - place->first < place->second.bytes ? &place->second : nullptr;
}

void SharedDeviceMemory::unmap(const SharedBuffer& buffer) {
  ::munmap(buffer.mapping, buffer.mapped_bytes);
}

}  // namespace regraph::capture
