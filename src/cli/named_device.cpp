#include "cli/named_device.h"

namespace regraph::cli {

bool is_device_file(const std::string& device) {
  return device.ends_with(".yaml") || device.ends_with(".yml");
}

Result<DeviceTable> named_device(const std::string& device) {
  if (is_device_file(device)) return read_device_table(device);
  auto known = find_device(device);
  if (!known) return known.error();
  std::string base = known->name;
  return DeviceTable{*std::move(known), std::move(base)};
}

}  // namespace regraph::cli
