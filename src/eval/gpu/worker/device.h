// The GPU as the worker has it: one context, one stream, and the harness's own kernels.
//
// Inside the worker a failure is thrown as gpu::Failure and becomes the answer to the message that
// met it (service.cpp): every call of the driver can fail, and all mean the same there.
#pragma once

#include "eval/gpu/driver/driver_api.h"
#include "eval/gpu/protocol/messages.h"

#include <cstdint>
#include <vector>

namespace regraph::gpu::worker {

class Device {
 public:
  explicit Device(const Driver& driver) : driver_(driver) {}

  // What the driver says of a GPU; needs no context, and knows the free memory of the one taken.
  [[nodiscard]] DeviceProperties properties(int ordinal) const;
  // Makes the context, which is when a GPU that others have shows it. Once.
  void take(int ordinal);
  // Makes the context, and what the other members need. Once.
  void open(const OpenRequest& request);
  // Throws unless open.
  void require_open() const;

  // Throws a Failure unless the call succeeded.
  void check(CUresult result) const;

  // Waits for the stream. A kernel that does not end in time cannot be stopped: the failure is
  // final.
  void finish(CUevent event, double timeout_seconds) const;

  // Enqueued; nothing waits.
  void launch(CUfunction function, const LaunchMessage& message) const;
  void sweep_cache() const;
  void poison(CUdeviceptr address, std::uint64_t bytes, std::uint64_t seed) const;
  void stamp(int slot) const;  // 0 or 1
  // Clocks per second between the two stamps, 0 when they cannot tell. Waits.
  [[nodiscard]] double stamped_clock_hertz() const;
  // Bytes that differ from `pattern`. Waits.
  [[nodiscard]] std::uint32_t count_different(CUdeviceptr address, std::uint64_t bytes,
                                              std::uint8_t pattern, double timeout_seconds) const;

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] CUdevice handle() const { return device_; }
  [[nodiscard]] CUcontext context() const { return context_; }
  [[nodiscard]] CUstream stream() const { return stream_; }

 private:
  void require_shared_use() const;
  [[nodiscard]] unsigned required_extent(CUfunction function, CUfunction_attribute attribute) const;
  void launch_harness(CUfunction function, unsigned blocks, std::vector<void*> parameters) const;

  const Driver& driver_;
  int ordinal_ = 0;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent done_ = nullptr;
  CUfunction sweep_ = nullptr;
  CUfunction poison_ = nullptr;
  CUfunction stamp_ = nullptr;
  CUfunction compare_ = nullptr;
  CUdeviceptr sweep_data_ = 0;
  std::uint64_t sweep_bytes_ = 0;
  CUdeviceptr scratch_ = 0;  // the sweep's sink, two stamps, a count
  int sm_count_ = 0;
};

}  // namespace regraph::gpu::worker
