#include "eval/model/device_table.h"

#include "base/files.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

namespace regraph {
namespace {

constexpr std::size_t kMaximumBytes = 64 << 10;
constexpr std::size_t kLongestText = 200;
constexpr double kMost = 1 << 20;  // of registers; of bytes, a few times that
constexpr double kGibi = 1 << 30;

constexpr std::array kFields = {
    DeviceField{"sm_count", &DeviceSpec::sm_count, 1, 1024},
    DeviceField{"clock_hertz", &DeviceSpec::clock_hertz, 1e8, 1e11},
    DeviceField{"max_warps", &DeviceSpec::max_warps, 1, 256},
    DeviceField{"max_blocks", &DeviceSpec::max_blocks, 1, 256},
    DeviceField{"registers", &DeviceSpec::registers, 1024, kMost},
    DeviceField{"shared_bytes", &DeviceSpec::shared_bytes, 1024, 4 * kMost},
    DeviceField{"shared_bytes_per_block", &DeviceSpec::shared_bytes_per_block, 1024, 4 * kMost},
    DeviceField{"reserved_shared_bytes", &DeviceSpec::reserved_shared_bytes, 0, 65536},
    DeviceField{"unified_bytes", &DeviceSpec::unified_bytes, 1024, 4 * kMost},
    DeviceField{"fp32_lanes", &DeviceSpec::fp32_lanes, 1, 4096},
    DeviceField{"fp64_lanes", &DeviceSpec::fp64_lanes, 1, 4096},
    DeviceField{"int32_lanes", &DeviceSpec::int32_lanes, 1, 4096},
    DeviceField{"special_function_lanes", &DeviceSpec::special_function_lanes, 1, 4096},
    DeviceField{"constant_load_lanes", &DeviceSpec::constant_load_lanes, 1, 4096},
    DeviceField{"tensor_tf32_products", &DeviceSpec::tensor_tf32_products, 1, kMost},
    DeviceField{"tensor_half_products", &DeviceSpec::tensor_half_products, 1, kMost},
    DeviceField{"lsu_bytes_per_clock", &DeviceSpec::lsu_bytes_per_clock, 1, 4096},
    DeviceField{"l1_path_share", &DeviceSpec::l1_path_share, 0.01, 1},
    DeviceField{"arithmetic_latency", &DeviceSpec::arithmetic_latency, 0.1, 1e5},
    DeviceField{"special_function_latency", &DeviceSpec::special_function_latency, 0.1, 1e5},
    DeviceField{"tensor_latency", &DeviceSpec::tensor_latency, 0.1, 1e5},
    DeviceField{"shared_latency", &DeviceSpec::shared_latency, 0.1, 1e5},
    DeviceField{"l1_latency", &DeviceSpec::l1_latency, 0.1, 1e5},
    DeviceField{"l2_latency", &DeviceSpec::l2_latency, 0.1, 1e5},
    DeviceField{"dram_latency", &DeviceSpec::dram_latency, 0.1, 1e5},
    DeviceField{"barrier_latency", &DeviceSpec::barrier_latency, 0.1, 1e5},
    DeviceField{"l2_bytes_per_second", &DeviceSpec::l2_bytes_per_second, 1e8, 1e16},
    DeviceField{"l2_write_bytes_per_second", &DeviceSpec::l2_write_bytes_per_second, 1e8, 1e16},
    DeviceField{"l2_partial_write_bytes_per_second", &DeviceSpec::l2_partial_write_bytes_per_second,
                1e8, 1e16},
    DeviceField{"l2_full_speed_bytes", &DeviceSpec::l2_full_speed_bytes, 65536, 4 * kGibi},
    DeviceField{"l2_bytes", &DeviceSpec::l2_bytes, 65536, 4 * kGibi},
    DeviceField{"dram_bytes_per_second", &DeviceSpec::dram_bytes_per_second, 1e8, 1e16},
    DeviceField{"peak_dram_bytes_per_second", &DeviceSpec::peak_dram_bytes_per_second, 1e8, 1e16},
    DeviceField{"atomic_full_pass_seconds", &DeviceSpec::atomic_full_pass_seconds, 1e-13, 1e-3},
    DeviceField{"atomic_partial_pass_seconds", &DeviceSpec::atomic_partial_pass_seconds, 1e-13,
                1e-3},
    DeviceField{"atomic_floating_pass_seconds", &DeviceSpec::atomic_floating_pass_seconds, 1e-13,
                1e-3},
    DeviceField{"atomic_sectors_per_second", &DeviceSpec::atomic_sectors_per_second, 1e5, 1e16},
    DeviceField{"atomic_returning_sectors_per_second",
                &DeviceSpec::atomic_returning_sectors_per_second, 1e5, 1e16},
    DeviceField{"atomic_bytes_per_second", &DeviceSpec::atomic_bytes_per_second, 1e5, 1e16},
    DeviceField{"atomic_dram_sectors_per_second", &DeviceSpec::atomic_dram_sectors_per_second, 1e5,
                1e16},
    DeviceField{"kernel_launch_seconds", &DeviceSpec::kernel_launch_seconds, 0, 1},
    DeviceField{"block_launch_clocks", &DeviceSpec::block_launch_clocks, 0, 1e6},
    DeviceField{"blocks_per_second", &DeviceSpec::blocks_per_second, 1e3, 1e15},
    DeviceField{"sm_norm", &DeviceSpec::sm_norm, 1, 64},
    DeviceField{"memory_norm", &DeviceSpec::memory_norm, 1, 64},
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

// "sm_90", "sm_90a", "sm_120f"
bool is_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<double> number_in(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Why the numbers of a device do not go together, or nothing.
std::string contradiction(const DeviceSpec& d) {
  if (d.shared_bytes_per_block > d.shared_bytes)
    return "shared_bytes_per_block is more than shared_bytes";
  if (d.shared_bytes > d.unified_bytes) return "shared_bytes is more than unified_bytes";
  if (d.l2_full_speed_bytes > d.l2_bytes) return "l2_full_speed_bytes is more than l2_bytes";
  if (d.dram_bytes_per_second > d.peak_dram_bytes_per_second)
    return "dram_bytes_per_second is more than peak_dram_bytes_per_second";
  return "";
}

class TableReader {
 public:
  explicit TableReader(std::string_view path) : path_(path) {}

  Result<DeviceTable> read(const YAML::Node& root) {
    if (!root.IsMap()) return error(root, "a device is a mapping such as {base: h200, ...}");
    const YAML::Node base = root["base"];
    if (!base || !base.IsScalar()) {
      return error(root, "'base' is missing: the known device that this one is a variant of");
    }
    auto known = find_device(base.Scalar());
    if (!known) return error(base, "base: " + known.error().message);
    DeviceTable table{*known, known->name};
    std::set<std::string> seen;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar()) return error(entry.first, "a key must be a plain word");
      const std::string& key = entry.first.Scalar();
      if (!seen.insert(key).second)
        return error(entry.first, "'" + shown(key) + "' is given twice");
      if (!entry.second.IsScalar()) {
        return error(entry.first, "'" + shown(key) + "' must be a single value");
      }
      if (Status status = apply(key, entry.first, entry.second, table.device); !status)
        return status.error();
    }
    if (const std::string why = contradiction(table.device); !why.empty()) return error(root, why);
    return table;
  }

 private:
  Status apply(const std::string& key, const YAML::Node& where, const YAML::Node& node,
               DeviceSpec& device) const {
    const std::string& text = node.Scalar();
    if (key == "base") return {};
    if (key == "name") {
      // "gpu" is what runs on an unnamed one are for.
      if (!is_name(text) || text == "gpu") {
        return error(node, "name: a name has 1 to 64 letters, digits, '-', '_' or '.'");
      }
      device.name = text;
      return {};
    }
    if (key == "architecture") {
      if (!is_architecture(text)) return error(node, "architecture: write for example sm_90");
      device.architecture = text;
      return {};
    }
    if (key == "description") {
      const bool plain = std::ranges::none_of(
          text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
      if (text.size() > kLongestText || !plain) {
        return error(node, fmt::format("description: one line of at most {} bytes", kLongestText));
      }
      device.description = text;
      return {};
    }
    const DeviceField* field = find_device_field(key);
    if (field == nullptr) {
      std::string known = "base, name, architecture, description";
      for (const DeviceField& one : kFields)
        known += fmt::format(", {}", one.name);
      return error(where, fmt::format("unknown key '{}' (known: {})", shown(key), known));
    }
    const auto value = number_in(text);
    if (!value) return error(node, fmt::format("{}: '{}' is no number", key, shown(text)));
    if (*value < field->least || *value > field->most) {
      return error(node, fmt::format("{}: {} is not within {} to {}", key, *value, field->least,
                                     field->most));
    }
    const bool whole = !std::holds_alternative<double DeviceSpec::*>(field->member);
    if (whole && *value != std::floor(*value))
      return error(node, fmt::format("{}: must be a whole number", key));
    field->set(device, *value);
    return {};
  }

  // A file's words may be long or unprintable.
  static std::string shown(const std::string& text) {
    std::string result = text.substr(0, 40);
    for (char& c : result) {
      if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
    }
    return result + (text.size() > 40 ? "..." : "");
  }

  [[nodiscard]] Error error(const YAML::Node& where, const std::string& message) const {
    return fail(ErrorCode::parse,
                fmt::format("{}:{}: {}", path_, std::max(where.Mark().line, 0) + 1, message));
  }

  std::string_view path_;
};

}  // namespace

double DeviceField::get(const DeviceSpec& device) const {
  return std::visit([&](auto place) { return static_cast<double>(device.*place); }, member);
}

void DeviceField::set(DeviceSpec& device, double value) const {
  std::visit(
      [&](auto place) {
        using Number = std::remove_reference_t<decltype(device.*place)>;
        if constexpr (std::is_integral_v<Number>) {
          device.*place = static_cast<Number>(std::llround(value));
        } else {
          device.*place = value;
        }
      },
      member);
}

std::span<const DeviceField> device_fields() {
  return kFields;
}

const DeviceField* find_device_field(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kFields, [&](const DeviceField& field) { return field.name == name; });
  return found == kFields.end() ? nullptr : found;
}

Result<DeviceTable> parse_device_table(std::string_view yaml, std::string_view path) {
  if (yaml.size() > kMaximumBytes) {
    return fail(ErrorCode::parse,
                fmt::format("{}:1: a device's file has at most {} KiB", path, kMaximumBytes >> 10));
  }
  try {
    return TableReader(path).read(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    return fail(ErrorCode::parse, fmt::format("{}:{}: no YAML: {}", path, line, error.msg));
  }
}

Result<DeviceTable> read_device_table(const std::string& path) {
  const auto text = read_file(path, kMaximumBytes);
  if (!text) return text.error();
  return parse_device_table(*text, path);
}

Result<std::string> write_device_table(const DeviceSpec& device, std::string_view base,
                                       const std::map<std::string, std::string>& sources,
                                       std::string_view header) {
  const auto known = find_device(base);
  if (!known) return known.error();
  std::string text;
  auto out = std::back_inserter(text);
  while (!header.empty()) {
    const std::size_t end = header.find('\n');
    fmt::format_to(out, "# {}\n", header.substr(0, end));
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
  }
  fmt::format_to(out, "base: {}\n", known->name);
  if (device.name != known->name) fmt::format_to(out, "name: {}\n", device.name);
  if (device.architecture != known->architecture)
    fmt::format_to(out, "architecture: {}\n", device.architecture);
  if (device.description != known->description) {
    YAML::Emitter quoted;
    quoted << YAML::DoubleQuoted << device.description;
    fmt::format_to(out, "description: {}\n", quoted.c_str());
  }
  for (const DeviceField& field : kFields) {
    const double value = field.get(device);
    if (value == field.get(*known)) continue;
    const auto source = sources.find(field.name);
    fmt::format_to(out, "{}: {}{}\n", field.name, value,
                   source == sources.end() ? "" : "  # " + source->second);
  }
  return text;
}

}  // namespace regraph
