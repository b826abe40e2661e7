// Devices as files: a known device and the numbers that differ from it, in YAML.
//
//   base: h200                      # a name of known_devices()
//   name: my-h200                   # optional, as are architecture and description
//   dram_bytes_per_second: 4.1e12   # any number of DeviceSpec by its field's name
#pragma once

#include "base/result.h"
#include "eval/model/device.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace regraph {

// One number of a DeviceSpec.
struct DeviceField {
  const char* name;
  std::variant<int DeviceSpec::*, double DeviceSpec::*, std::uint64_t DeviceSpec::*> member;
  double least;  // what a file may say
  double most;

  [[nodiscard]] double get(const DeviceSpec& device) const;
  // Whole numbers are rounded; `value` must be within [least, most].
  void set(DeviceSpec& device, double value) const;
};

// Every number of a DeviceSpec, in the order of its declaration.
[[nodiscard]] std::span<const DeviceField> device_fields();
// Null when there is no such number.
[[nodiscard]] const DeviceField* find_device_field(std::string_view name);

struct DeviceTable {
  DeviceSpec device;
  std::string base;  // name of the known device it began as
};

// Errors, parse, say "path:line: ...": no YAML, no known base, unknown or repeated keys, numbers
// out of range or at odds with each other (more shared memory than there is memory for it).
[[nodiscard]] Result<DeviceTable> parse_device_table(std::string_view yaml, std::string_view path);
// Also not_found and io for the file; at most 64 KiB are read.
[[nodiscard]] Result<DeviceTable> read_device_table(const std::string& path);

// The file of `device` as a variant of the known device `base`; parse_device_table gives back an
// equal device. `sources` maps names of numbers to where they come from and `header` is a text of
// any number of lines: both become comments. Error: not_found for an unknown base.
[[nodiscard]] Result<std::string> write_device_table(
    const DeviceSpec& device, std::string_view base,
    const std::map<std::string, std::string>& sources = {}, std::string_view header = "");

}  // namespace regraph
