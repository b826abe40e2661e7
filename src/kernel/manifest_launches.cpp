#include "kernel/manifest_launches.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::manifest_internal {

namespace {

using YAML::Node;

// More than any chain of kernels worth tuning together, and few enough to interpret.
constexpr std::size_t kMostLaunches = 64;

Status read_grid(const Node& node, const Place& place, Launch& launch) {
  Result<std::vector<IntegerExpression>> grid = read_expressions(node, place);
  if (!grid.ok()) return grid.error();
  if (grid->size() > launch.grid.size()) {
    return place.error(node, "a grid has at most 3 extents");
  }
  for (std::size_t axis = 0; axis < grid->size(); ++axis)
    launch.grid[axis] = (*grid)[axis];
  return {};
}

Status read_launch_key(const std::string& key, const Node& value, const Place& at, Launch& launch) {
  if (key == "block") return read_block(value, at, launch);
  if (key == "smem") return store(read_expression(value, at), launch.dynamic_shared_bytes);
  return read_grid(value, at, launch);
}

Status require_block_and_grid(const Node& node, const Place& place) {
  for (const char* key : {"block", "grid"}) {
    if (node[key]) continue;
    return place.error(node, fmt::format("'{}' is missing; a launch needs block and grid, e.g. "
                                         "{{block: [256], grid: [\"cdiv(N, bx)\"]}}",
                                         key));
  }
  return {};
}

// What is passed for one parameter: a name or an expression of sizes.
Status read_passed(const Node& node, const Place& place, std::vector<std::string>& arguments) {
  Result<std::string> text = read_text(node, place);
  if (!text.ok()) return text.error();
  const auto expression = IntegerExpression::parse(*text);
  if (!expression.ok()) {
    return place.error(node, "expected the name of an argument or an expression of sizes: " +
                                 expression.error().message);
  }
  arguments.push_back(expression->text());
  return {};
}

Status read_one_of_several(const Node& node, const Place& place, ManifestLaunch& entry) {
  Status keys = check_keys(node, place, {"kernel", "block", "grid", "smem", "args"});
  if (!keys.ok()) return keys;
  if (Status complete = require_block_and_grid(node, place); !complete.ok()) return complete;
  if (!node["kernel"]) return place.error(node, "'kernel' is missing: which kernel is launched?");
  entry.line = line_of(node);
  return for_each_entry(
      node, place, [&](const std::string& key, const Node& value, const Place& at) -> Status {
        if (key == "kernel") return store(read_text(value, at), entry.launch.kernel);
        if (key != "args") return read_launch_key(key, value, at, entry.launch);
        if (!value.IsSequence() || value.size() == 0) {
          return at.error(value,
                          "expected a list with one entry for each of the kernel's "
                          "parameters");
        }
        for (const Node& passed : value) {
          if (Status status = read_passed(passed, at, entry.launch.arguments); !status.ok())
            return status;
        }
        return {};
      });
}

}  // namespace

Status read_launch(const Node& node, const Place& place, Launch& launch) {
  if (Status keys = check_keys(node, place, {"block", "grid", "smem"}); !keys.ok()) return keys;
  if (Status complete = require_block_and_grid(node, place); !complete.ok()) return complete;
  return for_each_entry(node, place,
                        [&](const std::string& key, const Node& value, const Place& at) {
                          return read_launch_key(key, value, at, launch);
                        });
}

Status read_launches(const Node& node, const Place& place, std::vector<ManifestLaunch>& launches) {
  if (!node.IsSequence() || node.size() == 0 || node.size() > kMostLaunches) {
    return place.error(node, fmt::format("expected a list of 1 to {} launches such as {{kernel: k, "
                                         "block: [256], grid: [\"cdiv(N, bx)\"]}}",
                                         kMostLaunches));
  }
  for (const Node& item : node) {
    ManifestLaunch entry;
    const Place at = place.at(std::to_string(launches.size()));
    if (Status status = read_one_of_several(item, at, entry); !status.ok()) return status;
    launches.push_back(std::move(entry));
  }
  return {};
}

Status read_scratch(const Node& node, const Place& place,
                    std::vector<std::pair<std::string, ManifestScratch>>& scratch) {
  if (Status keys = check_keys(node, place, {}); !keys.ok()) return keys;
  return for_each_entry(
      node, place, [&](const std::string& name, const Node& value, const Place& at) -> Status {
        if (Status keys = check_keys(value, at, {"type", "shape"}); !keys.ok()) return keys;
        if (!value["shape"]) {
          return at.error(value, "'shape' is missing, e.g. {type: float, shape: [N]}");
        }
        ManifestScratch buffer;
        buffer.line = line_of(value);
        if (Status status = store(read_expressions(value["shape"], at.at("shape")), buffer.shape);
            !status.ok()) {
          return status;
        }
        if (value["type"]) {
          Status status = store(read_text(value["type"], at.at("type")), buffer.type);
          if (!status.ok()) return status;
        }
        scratch.emplace_back(name, std::move(buffer));
        return {};
      });
}

}  // namespace regraph::manifest_internal
