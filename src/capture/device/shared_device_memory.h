// Device memory that two processes see: the one that captures, wherever it maps it, and the user's
// program at the device's own addresses.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"
#include "capture/runtime/protocol.h"
#include "ptx/device_memory.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace regraph::capture {

struct SharedBuffer {
  std::uint64_t id = 0;  // by order of allocation, from 0
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  // What a device's allocator would round up to: kernels that go on to there run on hardware.
  std::uint64_t usable_bytes = 0;
  std::uint64_t mapped_bytes = 0;
  MemoryKind kind = MemoryKind::device;
  FileDescriptor file;  // for the program to map
  std::byte* host = nullptr;
  std::byte* mapping = nullptr;  // that it lies in
};

// Not thread-safe.
class SharedDeviceMemory {
 public:
  // `limit_bytes`: of all buffers together, as a device has it.
  explicit SharedDeviceMemory(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~SharedDeviceMemory();
  SharedDeviceMemory(const SharedDeviceMemory&) = delete;
  SharedDeviceMemory& operator=(const SharedDeviceMemory&) = delete;

  // A buffer of zeros; addresses are the same in every run. Valid until it is released. Error:
  // resource.
  [[nodiscard]] Result<const SharedBuffer*> allocate(std::uint64_t bytes, MemoryKind kind);
  // As allocate, of memory that the program has at this address, on those pages, and will replace
  // by the buffer's. Errors: invalid_argument, resource.
  [[nodiscard]] Result<const SharedBuffer*> register_host(const HostMemory& memory);
  // False when no buffer begins there.
  bool release(std::uint64_t address);
  // The buffer that holds the address; null for none.
  [[nodiscard]] const SharedBuffer* find(std::uint64_t address) const;

  [[nodiscard]] const std::map<std::uint64_t, SharedBuffer>& buffers() const { return buffers_; }
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] ptx::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] std::uint64_t most_bytes() const { return most_bytes_; }  // at one time

 private:
  // Fills in what is behind a buffer whose size is known, `offset` bytes into the mapping, and adds
  // it.
  Result<const SharedBuffer*> add(SharedBuffer buffer, std::uint64_t offset);
  void unmap(const SharedBuffer& buffer);

  const std::uint64_t limit_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t next_id_ = 0;
  std::uint64_t next_address_ = 0x70'0000'0000ULL;
  std::map<std::uint64_t, SharedBuffer> buffers_;  // by address
  ptx::DeviceMemory memory_;
};

}  // namespace regraph::capture
