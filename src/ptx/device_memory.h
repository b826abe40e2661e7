// Global memory of the simulated device: buffers far apart, red zones between them, sparse backing.
//
//   addresses:  ... [ red zone >= 64 KiB ][ buffer 0 ][ red zone ][ buffer 1 ][ red zone ] ...
//
// A buffer is backed by anonymous memory that the kernel of the host commits only when touched, so
// a 4096^2 matrix that only a few blocks read costs little.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace regraph::ptx {

enum class BufferAccess : std::uint8_t { read_write, read_only };

class DeviceMemory {
 public:
  // Buffers lie where a driver could put them: `placement` draws where they begin.
  explicit DeviceMemory(std::uint64_t placement = 0);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;

  // Returns the device address (256-byte aligned) of a new zero-filled buffer. `name` appears in
  // fault messages. A write to a read_only buffer is a fault. Error: resource.
  [[nodiscard]] Result<std::uint64_t> allocate(std::string name, std::size_t bytes,
                                               BufferAccess access);
  // As allocate, filled with `pattern` repeated without end, private copy-on-write pages: large
  // buffers cost memory only where they are written. pattern.size() must be a multiple of 4096.
  [[nodiscard]] Result<std::uint64_t> allocate_pattern(std::string name, std::size_t bytes,
                                                       BufferAccess access,
                                                       std::span<const std::byte> pattern);

  // Adds memory of the caller's as a buffer that begins at `address`. It must stay where it is
  // until it is released or this object goes; twin() does not know it. The last `slack` bytes of it
  // are no part of the buffer, but may be accessed: what an allocator rounds up to
  // (RunResult::slack). Error: invalid_argument, when it is empty or overlaps another buffer.
  [[nodiscard]] Status adopt(std::string name, std::uint64_t address, std::span<std::byte> host,
                             std::size_t slack = 0);
  // Data races on the buffer that begins at `address` are no faults (RunOptions::detect_races).
  void allow_races(std::uint64_t address);
  // Takes an adopted buffer away again; false when none begins there.
  bool release(std::uint64_t address);

  // Another memory with the same buffers at the same addresses: read-only ones are these, so this
  // must outlive it, others hold what they held when they were allocated. Error: resource.
  [[nodiscard]] Result<DeviceMemory> twin() const;

  // Host view of the buffer that starts at `address`, for filling and reading back.
  [[nodiscard]] std::span<std::byte> view(std::uint64_t address);
  [[nodiscard]] std::span<const std::byte> view(std::uint64_t address) const;

  struct Region {
    std::uint64_t begin;
    std::uint64_t end;  // one past the last byte
    bool writable;
    std::byte* host;
    std::string name;
    std::size_t slack = 0;  // bytes behind the end that may be accessed, too
    bool races_allowed = false;
  };
  [[nodiscard]] std::span<const Region> regions() const;  // sorted by begin

 private:
  struct State;
  struct PatternFile;
  static Result<std::shared_ptr<const PatternFile>> make_pattern_file(
      const std::string& name, std::size_t mapped, std::span<const std::byte> pattern);
  static Result<void*> map_pattern(const std::string& name, std::size_t mapped,
                                   const PatternFile& file);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::ptx
