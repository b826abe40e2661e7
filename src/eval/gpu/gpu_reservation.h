// One program at a time on a GPU: several that time candidates on the same one (workers of a reward
// server, parts of a data set, two searches) would otherwise time each other.
#pragma once

#include "base/cancellation.h"
#include "base/file_descriptor.h"

#include <filesystem>
#include <string>
#include <utility>

namespace regraph::gpu {

// Held until destruction; the kernel drops it when the process ends, however it ends. An advisory
// lock: only programs that ask for it keep each other off. Who gives it back and wants it again at
// once comes after whoever waits: there are two locks, and only the one who has the first waits for
// the second.
class GpuReservation {
 public:
  // The lock's file of the GPU with that PCI bus id, in the directory for temporary files. Every
  // user of a machine has the same. Beside it lies one of that name and ".next".
  [[nodiscard]] static std::filesystem::path file_of(const std::string& bus_id);

  // Waits until nobody else holds the file's lock, in this process or another; returns without it
  // when cancelled, and when the file can neither be opened nor made: timing goes on unprotected.
  [[nodiscard]] static GpuReservation wait(const std::filesystem::path& file,
                                           const Cancellation& cancellation);

  [[nodiscard]] bool held() const { return file_.valid(); }

 private:
  explicit GpuReservation(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace regraph::gpu
