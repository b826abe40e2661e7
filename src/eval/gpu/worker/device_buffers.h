// Device memory that belongs to the harness.
//
//   plain      | content                                   |
//   at_start   [unmapped] content | canary .......... [unmapped]
//   at_end     [unmapped] canary ..........| content | [unmapped]
//
// Guarded mappings are whole pages of 2 MiB; an access beyond the content either meets a page that
// is not there, or changes the canary.
#pragma once

#include "eval/gpu/worker/device.h"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace regraph::gpu::worker {

class DeviceBuffers {
 public:
  explicit DeviceBuffers(const Device& device) : device_(device) {}

  struct Buffer {
    CUdeviceptr address = 0;
    std::uint64_t bytes = 0;
    CUdeviceptr allocated = 0;  // what to free; 0 for guarded ones
    // Guarded ones only.
    CUdeviceptr reserved = 0;
    std::uint64_t reserved_bytes = 0;
    CUdeviceptr mapped = 0;
    std::uint64_t mapped_bytes = 0;
    CUmemGenericAllocationHandle handle = 0;
  };

  // All or none. `shared` is the memory that contents come from.
  [[nodiscard]] AllocateResponse allocate(const AllocateRequest& request,
                                          std::span<const std::byte> shared);
  void free(int name);
  [[nodiscard]] const Buffer& at(int name) const;
  void read(int name, std::uint64_t offset, std::span<std::byte> shared) const;

  // Buffers whose canary changed. Waits.
  [[nodiscard]] std::vector<int> damaged(double timeout_seconds) const;

 private:
  [[nodiscard]] Buffer plain(const BufferRequest& request) const;
  [[nodiscard]] Buffer guarded(const BufferRequest& request) const;
  void fill(const Buffer& buffer, const BufferRequest& request,
            std::span<const std::byte> shared) const;
  void release(const Buffer& buffer) const;

  const Device& device_;
  std::map<int, Buffer> buffers_;
  int next_ = 1;
};

}  // namespace regraph::gpu::worker
