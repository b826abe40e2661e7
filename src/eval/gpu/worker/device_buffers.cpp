#include "eval/gpu/worker/device_buffers.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::gpu::worker {
namespace {

constexpr std::uint8_t kCanary = 0xA5;
// Atomics to the same 1 KB take half as long where it begins at an odd multiple of 512 bytes (H200:
// a histogram of 256 counters 8.3 instead of 17.3 ms), and where an allocation begins depends on
// those before it. So that times do not, buffers begin as large allocations do, well aligned.
constexpr std::uint64_t kTimingAlignment = 4096;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Failure out_of_range(const Stretch& stretch) {
  return {
      0, false, false,
      fmt::format("{} bytes at {} are not in the shared memory", stretch.bytes, stretch.offset)};
}

CUmemAllocationProp memory_of(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

}  // namespace

AllocateResponse DeviceBuffers::allocate(const AllocateRequest& request,
                                         std::span<const std::byte> shared) {
  AllocateResponse response;
  try {
    for (const BufferRequest& one : request.buffers) {
      const bool allocated = one.placement == Placement::plain || one.placement == Placement::exact;
      const Buffer buffer = allocated ? plain(one) : guarded(one);
      buffers_.emplace(next_, buffer);
      response.buffers.push_back(next_++);
      response.addresses.push_back(buffer.address);
      fill(buffer, one, shared);
    }
  } catch (const Failure&) {
    for (const int name : response.buffers)
      free(name);
    throw;
  }
  return response;
}

DeviceBuffers::Buffer DeviceBuffers::plain(const BufferRequest& request) const {
  Buffer buffer;
  buffer.bytes = request.bytes;
  const std::uint64_t bytes = std::max<std::uint64_t>(request.bytes, 1);
  if (request.placement == Placement::exact) {
    device_.check(device_.driver().cuMemAlloc(&buffer.allocated, bytes));
    buffer.address = buffer.allocated;
    return buffer;
  }
  device_.check(device_.driver().cuMemAlloc(&buffer.allocated, bytes + kTimingAlignment));
  buffer.address = round_up(buffer.allocated, kTimingAlignment);
  return buffer;
}

DeviceBuffers::Buffer DeviceBuffers::guarded(const BufferRequest& request) const {
  const Driver& driver = device_.driver();
  const CUmemAllocationProp properties = memory_of(device_.handle());
  std::size_t page = 0;
  device_.check(
      driver.cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::uint64_t alignment = std::max<std::uint64_t>(request.alignment, 1);
  Buffer buffer;
  buffer.bytes = request.bytes;
  buffer.mapped_bytes =
      round_up(std::max<std::uint64_t>(request.bytes + request.offset + alignment, 1), page);
  buffer.reserved_bytes = buffer.mapped_bytes + 2 * page;
  try {
    device_.check(driver.cuMemAddressReserve(&buffer.reserved, buffer.reserved_bytes, page, 0, 0));
    device_.check(driver.cuMemCreate(&buffer.handle, buffer.mapped_bytes, &properties, 0));
    device_.check(
        driver.cuMemMap(buffer.reserved + page, buffer.mapped_bytes, 0, buffer.handle, 0));
    buffer.mapped = buffer.reserved + page;
    CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    device_.check(driver.cuMemSetAccess(buffer.mapped, buffer.mapped_bytes, &access, 1));
  } catch (const Failure&) {
    release(buffer);
    throw;
  }
  if (request.placement == Placement::at_start) {
    buffer.address = buffer.mapped + request.offset;
  } else {
    const std::uint64_t last = buffer.mapped + buffer.mapped_bytes - request.bytes;
    buffer.address = (last - request.offset) / alignment * alignment + request.offset;
  }
  return buffer;
}

void DeviceBuffers::fill(const Buffer& buffer, const BufferRequest& request,
                         std::span<const std::byte> shared) const {
  const Driver& driver = device_.driver();
  const Stretch& content = request.content;
  if (content.offset > shared.size() || content.bytes > shared.size() - content.offset ||
      content.bytes > buffer.bytes) {
    throw out_of_range(content);
  }
  if (buffer.mapped != 0) {
    device_.check(driver.cuMemsetD8(buffer.mapped, kCanary, buffer.mapped_bytes));
  }
  if (content.bytes > 0) {
    device_.check(
        driver.cuMemcpyHtoD(buffer.address, shared.data() + content.offset, content.bytes));
  }
  if (buffer.mapped == 0) return;
  device_.check(driver.cuCtxSynchronize());
  if (!request.read_only) return;
  CUmemAccessDesc access{memory_of(device_.handle()).location, CU_MEM_ACCESS_FLAGS_PROT_READ};
  device_.check(driver.cuMemSetAccess(buffer.mapped, buffer.mapped_bytes, &access, 1));
}

void DeviceBuffers::release(const Buffer& buffer) const {
  const Driver& driver = device_.driver();
  if (buffer.reserved == 0) {
    if (buffer.allocated != 0) (void)driver.cuMemFree(buffer.allocated);
    return;
  }
  if (buffer.mapped != 0) (void)driver.cuMemUnmap(buffer.mapped, buffer.mapped_bytes);
  if (buffer.handle != 0) (void)driver.cuMemRelease(buffer.handle);
  (void)driver.cuMemAddressFree(buffer.reserved, buffer.reserved_bytes);
}

void DeviceBuffers::free(int name) {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) return;
  release(found->second);
  buffers_.erase(found);
}

const DeviceBuffers::Buffer& DeviceBuffers::at(int name) const {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) {
    throw Failure{0, false, false, fmt::format("there is no buffer {}", name)};
  }
  return found->second;
}

void DeviceBuffers::read(int name, std::uint64_t offset, std::span<std::byte> shared) const {
  const Buffer& buffer = at(name);
  if (offset > shared.size() || buffer.bytes > shared.size() - offset) {
    throw out_of_range({offset, buffer.bytes});
  }
  if (buffer.bytes == 0) return;
  device_.check(
      device_.driver().cuMemcpyDtoH(shared.data() + offset, buffer.address, buffer.bytes));
}

std::vector<int> DeviceBuffers::damaged(double timeout_seconds) const {
  std::vector<int> names;
  for (const auto& [name, buffer] : buffers_) {
    if (buffer.mapped == 0) continue;
    const std::uint64_t before = buffer.address - buffer.mapped;
    const std::uint64_t after = buffer.mapped_bytes - before - buffer.bytes;
    if (device_.count_different(buffer.mapped, before, kCanary, timeout_seconds) != 0 ||
        device_.count_different(buffer.address + buffer.bytes, after, kCanary, timeout_seconds) !=
            0) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace regraph::gpu::worker
