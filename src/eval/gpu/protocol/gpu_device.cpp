#include "eval/gpu/protocol/gpu_device.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

namespace regraph::gpu {
namespace {

// Others the compiler would not know.
constexpr std::array<std::string_view, 13> kArchitectures = {
    "sm_75",  "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89", "sm_90",
    "sm_100", "sm_101", "sm_103", "sm_110", "sm_120", "sm_121"};
// Of the peak, what a copy achieves; the H200's 4.25 of 4.8 TB/s.
constexpr double kAchievedBandwidth = 0.88;
// Both edges of the clock carry data.
constexpr double kTransfersPerClock = 2.0;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

int number_of(std::string_view architecture) {
  const std::size_t at = architecture.find('_');
  int value = 0;
  if (at != std::string_view::npos) {
    (void)std::from_chars(architecture.data() + at + 1, architecture.data() + architecture.size(),
                          value);
  }
  return value;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// What makes another product of a name: an "RTX 4090 Laptop GPU" has 76 SMs.
bool is_variant(const std::string& word) {
  constexpr std::array<std::string_view, 6> kVariants = {"d",      "laptop", "max",
                                                         "mobile", "super",  "ti"};
  return std::ranges::find(kVariants, word) != kVariants.end();
}

// Whole words only, of which a name may be several: "rtx4090" is in "RTX 4090", "a100" is not in
// "A100X".
bool has_name(const std::string& text, std::string wanted) {
  std::erase_if(wanted, [](char c) { return c == ' ' || c == '-'; });
  const std::vector<std::string> words = words_of(text);
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string joined;
    for (std::size_t i = first; i < words.size() && joined.size() < wanted.size(); ++i) {
      joined += words[i];
      if (joined != wanted) continue;
      return std::none_of(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end(),
                          is_variant);
    }
  }
  return false;
}

}  // namespace

DeviceSpec model_of(const DeviceProperties& gpu) {
  const std::string name = lower(gpu.name);
  const DeviceSpec* nearest = nullptr;
  for (const DeviceSpec& device : known_devices()) {
    if (device.architecture == gpu.architecture && has_name(name, device.name)) {
      return device;
    }
    const auto distance = [&](const DeviceSpec& one) {
      return std::abs(number_of(one.architecture) - number_of(gpu.architecture));
    };
    if (nearest == nullptr || distance(device) < distance(*nearest)) nearest = &device;
  }
  DeviceSpec spec = *nearest;
  const auto* const known =
      std::find(kArchitectures.begin(), kArchitectures.end(), gpu.architecture);
  if (known != kArchitectures.end()) spec.architecture = *known;
  spec.name = "gpu";
  spec.description = "the GPU of this machine";
  if (gpu.sm_count > 0) spec.sm_count = gpu.sm_count;
  if (gpu.clock_hertz > 0.0) spec.clock_hertz = gpu.clock_hertz;
  if (gpu.l2_bytes > 0) {
    spec.l2_full_speed_bytes = static_cast<std::uint64_t>(
        static_cast<double>(spec.l2_full_speed_bytes) * static_cast<double>(gpu.l2_bytes) /
        static_cast<double>(spec.l2_bytes));
    spec.l2_bytes = gpu.l2_bytes;
  }
  const double bandwidth =
      kTransfersPerClock * gpu.memory_clock_hertz * static_cast<double>(gpu.memory_bus_bits) / 8.0;
  if (bandwidth > 0.0) {
    spec.peak_dram_bytes_per_second = bandwidth;
    spec.dram_bytes_per_second = kAchievedBandwidth * bandwidth;
  }
  return spec;
}

bool is_device(const DeviceProperties& gpu, std::string_view name) {
  const std::string wanted = lower(name);
  return wanted == gpu.architecture || wanted == "gpu" || has_name(lower(gpu.name), wanted);
}

}  // namespace regraph::gpu
