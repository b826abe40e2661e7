#include "session/captured_device.h"

#include "capture/device/host_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

namespace regraph {
namespace {

// The table of devices does not say how much memory one has; programs ask, to size their data.
constexpr std::uint64_t kDeviceBytes = std::uint64_t{80} << 30;

}  // namespace

capture::DeviceFacts facts_of(const DeviceSpec& device) {
  capture::DeviceFacts facts;
  const std::string name = device.description.empty() ? device.name : device.description;
  std::memcpy(facts.name, name.data(), std::min(name.size(), sizeof facts.name - 1));
  // Device memory lies in this machine's: more would end whoever touches it last.
  facts.total_bytes = std::min(kDeviceBytes, capture::spare_host_bytes() / 10 * 9);
  facts.l2_bytes = device.l2_bytes;
  // "sm_90"
  int architecture = 90;
  const std::string digits = device.architecture.substr(device.architecture.find('_') + 1);
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), architecture);
  facts.major = architecture / 10;
  facts.minor = architecture % 10;
  facts.multiprocessors = device.sm_count;
  facts.clock_kilohertz = static_cast<int>(device.clock_hertz / 1e3);
  facts.threads_per_multiprocessor = device.max_warps * 32;
  facts.blocks_per_multiprocessor = device.max_blocks;
  facts.registers_per_multiprocessor = device.registers;
  facts.shared_bytes_per_multiprocessor = device.shared_bytes;
  facts.shared_bytes_per_block_with_opt_in = device.shared_bytes_per_block;
  facts.reserved_shared_bytes_per_block = device.reserved_shared_bytes;
  return facts;
}

}  // namespace regraph
