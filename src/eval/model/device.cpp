#include "eval/model/device.h"

#include "eval/model/device_entries.h"
#include "kernel/launch_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <vector>

namespace regraph {
namespace {

// The same on every compute capability from 3.5 on (CUDA programming guide).
constexpr int kWarpSize = 32;
constexpr int kMaxRegistersPerThread = 255;
constexpr std::int64_t kSharedBytesWithoutOptIn = 48 << 10;

// What CUDA 13, which compiles here, still makes code for.
constexpr int kOldestArchitecture = 75;

// "RTX 4090" and "rtx-4090" are "rtx4090".
std::string plain_name(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = i > 0 && i + 1 < text.size();
    if (inside && (text[i] == ' ' || text[i] == '-')) continue;
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  return result;
}

// 90 for "sm_90", nothing for what is not named that way.
std::optional<int> architecture_number(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

bool is_too_old(std::string_view name) {
  if (name == "v100") return true;
  const auto number = architecture_number(name);
  // One digit is no architecture that ever was.
  return number && *number >= 10 && *number < kOldestArchitecture;
}

}  // namespace

std::span<const DeviceSpec> known_devices() {
  static const std::vector<DeviceSpec> kDevices = [] {
    std::vector<DeviceSpec> all = make_data_centre_devices();
    for (DeviceSpec& card : make_card_devices())
      all.push_back(std::move(card));
    return all;
  }();
  return kDevices;
}

Result<DeviceSpec> find_device(std::string_view name) {
  const std::string wanted = plain_name(name);
  std::string names;
  for (const DeviceSpec& device : known_devices()) {
    if (wanted == device.name || wanted == device.architecture) return device;
    names += (names.empty() ? "" : ", ") + device.name + " (" + device.architecture + ")";
  }
  if (is_too_old(wanted)) {
    return fail(ErrorCode::not_found,
                "no device '" + std::string(name) +
                    "': CUDA 13, which compiles the kernels, makes no code for GPUs before sm_75 "
                    "(a V100 is sm_70)");
  }
  return fail(ErrorCode::not_found,
              "unknown device '" + std::string(name) + "'; known devices: " + names);
}

std::string_view doubts_about(const DeviceSpec& device) {
  constexpr std::string_view kMeasured = "h200";
  const bool shipped = device.name != kMeasured &&
                       std::ranges::find(known_devices(), device) != known_devices().end();
  return shipped ? "not measured: from data sheets and published benchmarks" : "";
}

std::optional<double> compute_capability(const DeviceSpec& device) {
  const auto number = architecture_number(device.architecture);
  if (!number) return std::nullopt;
  return *number / 10.0;  // the last digit is the minor version
}

DeviceLimits limits_of(const DeviceSpec& device) {
  return {.architecture = device.architecture,
          .warp_size = kWarpSize,
          .max_threads_per_block = kMaxThreadsPerBlock,
          .max_threads_per_multiprocessor = device.max_warps * kWarpSize,
          .max_blocks_per_multiprocessor = device.max_blocks,
          .registers_per_multiprocessor = device.registers,
          .max_registers_per_thread = kMaxRegistersPerThread,
          .shared_bytes_per_block = kSharedBytesWithoutOptIn,
          .shared_bytes_per_block_opt_in = device.shared_bytes_per_block,
          .shared_bytes_per_multiprocessor = device.shared_bytes};
}

}  // namespace regraph
