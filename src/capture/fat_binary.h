// Reads the containers of device code ("fat binaries") that nvcc puts into programs. The format is
// not documented by NVIDIA; what stands here was read off files of CUDA 12 and 13.
//
//   container:  0  u32 0xBA55ED50     6  u16 bytes of this header (16)
//               4  u16 version (1)    8  u64 bytes of all entries
//   entry:      0  u16 kind: 1 PTX, 2 machine code (ELF)
//               4  u32 bytes of this header      8  u64 bytes of the payload with padding
//              16  u32 bytes of the payload when it is packed
//              28  u32 architecture: 90          40  u64 flags: 0x8000 zstd, 0x2000 LZ4
//              56  u64 bytes of the content when it was packed
//
// The bytes are foreign: any program may be looked at.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace regraph::capture {

struct DeviceImage {
  enum class Kind : std::uint8_t { ptx, machine_code };
  Kind kind = Kind::ptx;
  int architecture = 0;  // 90
  std::string content;   // PTX text without a terminating zero, or an ELF file; empty: not read
  std::string not_read;  // why the content is not here: "it is packed with LZ4"
};

// The largest image that is unpacked: what is said of a packed one's size may be a lie.
inline constexpr std::uint64_t kLargestImage = std::uint64_t{256} << 20;

// All images of the containers that stand one after the other in `bytes`, at multiples of eight
// (section .nv_fatbin of a program). Kinds that are neither PTX nor machine code are left out.
// Error: parse, with the place, where something else than a container stands or one is cut short.
[[nodiscard]] Result<std::vector<DeviceImage>> read_fat_binaries(std::span<const std::byte> bytes);

}  // namespace regraph::capture
