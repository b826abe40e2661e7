#include "kernel/manifest.h"

#include "kernel/manifest_launches.h"
#include "kernel/manifest_values.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace regraph {

namespace {

using manifest_internal::for_each_entry;
using manifest_internal::Place;
using manifest_internal::store;
using YAML::Node;

constexpr std::size_t kMaximumBytes = std::size_t{1} << 20;  // manifests are a page long

// [x, 0]: the buffer and the bytes from its begin.
Status read_overlap(const Node& node, const Place& place, ManifestArgument& argument) {
  if (!node.IsSequence() || node.size() != 2)
    return place.error(node, "expected [the other argument, bytes from its begin]");
  if (Status status = store(read_text(node[0], place), argument.overlaps); !status.ok())
    return status;
  return store(read_expression(node[1], place), argument.overlap_bytes);
}

Status read_argument(const Node& node, const Place& place, ManifestArgument& argument) {
  argument.line = manifest_internal::line_of(node);
  if (node.IsScalar()) return store(manifest_internal::read_value(node, place), argument.value);
  if (!node.IsMap())
    return place.error(node, "expected a number, an expression of sizes or {dir, shape, init}");
  if (Status keys =
          check_keys(node, place, {"dir", "shape", "init", "value", "bytes", "overlap", "is_null"});
      !keys.ok()) {
    return keys;
  }
  return for_each_entry(node, place,
                        [&](const std::string& key, const Node& value, const Place& at) -> Status {
                          if (key == "shape")
                            return store(read_expressions(value, at), argument.shape);
                          if (key == "init") return store(read_init(value, at), argument.init);
                          if (key == "value") return store(read_value(value, at), argument.value);
                          if (key == "bytes") return store(read_bytes(value, at), argument.record);
                          if (key == "overlap") return read_overlap(value, at, argument);
                          if (key == "is_null")
                            return store(read_flag(value, at), argument.is_null);
                          Result<std::string> text = read_text(value, at);
                          if (!text.ok()) return text.error();
                          if (*text == "in") {
                            argument.direction = Direction::in;
                          } else if (*text == "out") {
                            argument.direction = Direction::out;
                          } else if (*text == "inout") {
                            argument.direction = Direction::inout;
                          } else {
                            return at.error(value, "expected in, out or inout");
                          }
                          return {};
                        });
}

Status read_arguments(const Node& node, const Place& place, Manifest& manifest) {
  if (Status keys = check_keys(node, place, {}); !keys.ok()) return keys;
  return for_each_entry(node, place,
                        [&](const std::string& key, const Node& value, const Place& at) {
                          ManifestArgument argument;
                          Status status = read_argument(value, at, argument);
                          if (status.ok())
                            manifest.arguments.emplace_back(key, std::move(argument));
                          return status;
                        });
}

Status read_defines(const Node& node, const Place& place, Manifest& manifest) {
  if (Status keys = check_keys(node, place, {}); !keys.ok()) return keys;
  return for_each_entry(node, place,
                        [&](const std::string& key, const Node& value, const Place& at) -> Status {
                          auto text = read_text(value, at);
                          if (!text.ok()) return text.error();
                          if (text->find('\n') != std::string::npos)
                            return at.error(value, "a macro's replacement is one line");
                          manifest.defines.emplace_back(key, *std::move(text));
                          return {};
                        });
}

Status read_size_list(const Node& node, const Place& place, std::vector<Symbols>& list) {
  if (!node.IsSequence()) return place.error(node, "expected a list of sizes such as [{N: 100}]");
  for (const Node& item : node) {
    Result<Symbols> symbols = read_symbols(item, place);
    if (!symbols.ok()) return symbols.error();
    list.push_back(std::move(*symbols));
  }
  if (list.empty())
    return place.error(node, "the list is empty; leave the key out for the default");
  return {};
}

// [file, bytes from the begin of its content]
Status read_content(const Node& node, const Place& place, CapturedContent& content) {
  if (!node.IsSequence() || node.size() != 2)
    return place.error(node, "expected [a file, bytes from its begin]");
  Result<std::int64_t> offset = read_integer(node[1], place);
  if (!offset.ok()) return offset.error();
  if (*offset < 0) return place.error(node, "an offset is not negative");
  content.offset = static_cast<std::uint64_t>(*offset);
  return store(read_text(node[0], place), content.file);
}

Status read_capture(const Node& node, const Place& place, ManifestCapture& capture) {
  capture.line = manifest_internal::line_of(node);
  if (Status keys = check_keys(node, place, {"sizes", "data", "test"}); !keys.ok()) return keys;
  return for_each_entry(
      node, place, [&](const std::string& key, const Node& value, const Place& at) -> Status {
        if (key == "sizes") return store(read_symbols(value, at), capture.sizes);
        if (key == "test") return store(read_flag(value, at), capture.is_test);
        if (Status keys = check_keys(value, at, {}); !keys.ok()) return keys;
        return for_each_entry(value, at,
                              [&](const std::string& name, const Node& file, const Place& where) {
                                return read_content(file, where, capture.contents[name]);
                              });
      });
}

Status read_captures(const Node& node, const Place& place, std::vector<ManifestCapture>& list) {
  if (!node.IsSequence()) return place.error(node, "expected a list of {sizes, data}");
  for (const Node& item : node) {
    if (Status status = read_capture(item, place, list.emplace_back()); !status.ok()) return status;
  }
  return {};
}

Status read_names(const Node& node, const Place& place, std::vector<std::string>& names) {
  if (!node.IsSequence()) return place.error(node, "expected a list of arguments, as [x, y]");
  for (const Node& item : node) {
    Result<std::string> name = read_text(item, place);
    if (!name.ok()) return name.error();
    names.push_back(*std::move(name));
  }
  return {};
}

Status read_check(const Node& node, const Place& place, CheckPolicy& check) {
  if (Status keys = check_keys(node, place, {"tolerance", "seeds", "benign_races"}); !keys.ok())
    return keys;
  return for_each_entry(
      node, place, [&](const std::string& key, const Node& value, const Place& at) -> Status {
        if (key == "tolerance") {
          if (value.IsScalar() && value.Scalar() == "auto") return {};
          Result<double> number = read_number(value, at);
          if (!number.ok()) return at.error(value, "expected auto or a number such as 1e-4");
          if (!(*number >= 0.0) || !(*number < 1.0)) {
            return at.error(value, "a relative tolerance must be at least 0 and below 1");
          }
          check.relative_tolerance = *number;
          return {};
        }
        if (key == "benign_races") return read_names(value, at, check.benign_races);
        Result<std::int64_t> seeds = read_integer(value, at);
        if (!seeds.ok()) return seeds.error();
        if (*seeds < 5 || *seeds > 1000) {
          return at.error(value,
                          "seeds must be 5 to 1000: fewer input sets let wrong kernels pass");
        }
        check.seeds = static_cast<int>(*seeds);
        return {};
      });
}

Status read_assumptions(const Node& node, const Place& place, Assumptions& assume) {
  if (Status keys = check_keys(
          node, place,
          {"noalias", "align", "reassociate", "fast_math", "precision", "finite", "fixed"});
      !keys.ok()) {
    return keys;
  }
  return for_each_entry(
      node, place, [&](const std::string& key, const Node& value, const Place& at) -> Status {
        if (key == "noalias") return store(read_flag(value, at), assume.noalias);
        if (key == "reassociate") return store(read_flag(value, at), assume.reassociate);
        if (key == "fast_math") return store(read_flag(value, at), assume.fast_math);
        if (key == "align") {
          Result<std::int64_t> align = read_integer(value, at);
          if (!align.ok()) return align.error();
          if (*align < 1 || *align > 256 || (*align & (*align - 1)) != 0) {
            return at.error(value, "align must be a power of two from 1 to 256 bytes");
          }
          assume.align = static_cast<int>(*align);
          return {};
        }
        if (key == "finite") return store(read_flag(value, at), assume.finite);
        if (key == "fixed") return read_names(value, at, assume.fixed);
        const std::string text = value.IsScalar() ? value.Scalar() : "";
        for (const Precision precision : {Precision::keep, Precision::tf32x3, Precision::any}) {
          if (text != name_of(precision)) continue;
          assume.precision = precision;
          return {};
        }
        return at.error(value, "expected keep (no lower precision), tf32x3 or any");
      });
}

Status read_counters(const Node& node, const Place& place, Manifest& manifest) {
  if (Status keys = check_keys(node, place, {"flops", "bytes"}); !keys.ok()) return keys;
  return for_each_entry(
      node, place, [&](const std::string& key, const Node& value, const Place& at) {
        return store(read_expression(value, at), key == "flops" ? manifest.flops : manifest.bytes);
      });
}

Status read_top_level(const std::string& key, const Node& value, const Place& at,
                      Manifest& manifest) {
  if (key == "kernel") return store(read_text(value, at), manifest.kernel);
  if (key == "defines") return read_defines(value, at, manifest);
  if (key == "sizes") return store(read_symbols(value, at), manifest.sizes);
  if (key == "args") return read_arguments(value, at, manifest);
  if (key == "launch") {
    Launch launch;
    Status status = manifest_internal::read_launch(value, at, launch);
    if (status.ok()) manifest.launch = std::move(launch);
    return status;
  }
  if (key == "launches") return manifest_internal::read_launches(value, at, manifest.launches);
  if (key == "scratch") return manifest_internal::read_scratch(value, at, manifest.scratch);
  if (key == "tests") return read_size_list(value, at, manifest.tests);
  if (key == "bench") return read_size_list(value, at, manifest.bench);
  if (key == "captured") {
    manifest.is_captured = true;
    return read_captures(value, at, manifest.captured);
  }
  if (key == "check") return read_check(value, at, manifest.check);
  if (key == "assume") return read_assumptions(value, at, manifest.assume);
  if (key == "counters") return read_counters(value, at, manifest);
  if (value.IsScalar() && value.Scalar() == "self") return {};
  return at.error(value, "a reference other than 'self' (the original kernel) is not supported yet",
                  ErrorCode::unsupported);
}

Status resolve_block(Launch& launch, const Symbols& sizes) {
  if (!launch.block_of_sizes) return {};
  launch.block = launch.block_of_sizes->at;
  const Result<Dim3> block = block_at(launch, sizes);
  if (!block.ok()) return block.error();
  launch.block_of_sizes->at = launch.block = *block;
  return {};
}

}  // namespace

Status resolve_blocks(Manifest& manifest) {
  Symbols sizes = manifest.bench.empty() ? Symbols() : manifest.bench.front();
  sizes.insert(manifest.sizes.begin(), manifest.sizes.end());
  for (const std::vector<Symbols>* list : {&manifest.bench, &manifest.tests}) {
    for (const Symbols& entry : *list)
      sizes.insert(entry.begin(), entry.end());
  }
  const auto of = [&](Launch& launch, const std::string& place) -> Status {
    const Status status = resolve_block(launch, sizes);
    if (status.ok()) return {};
    const bool unknown = status.error().message.find("unknown symbol") != std::string::npos;
    return Error{status.error().code,
                 fmt::format("{}: {}: {}{}", manifest.path, place, status.error().message,
                             unknown ? "; add it to sizes" : "")};
  };
  if (manifest.launch) {
    if (Status status = of(*manifest.launch, "launch.block"); !status.ok()) return status;
  }
  for (ManifestLaunch& entry : manifest.launches) {
    if (Status status = of(entry.launch, "launches.block"); !status.ok()) return status;
  }
  return {};
}

Result<Manifest> parse_manifest(std::string_view yaml, std::string path) {
  Manifest manifest;
  manifest.path = std::move(path);
  if (yaml.size() > kMaximumBytes) {
    return fail(ErrorCode::resource,
                fmt::format("{}: a manifest is limited to {} bytes, this has {}", manifest.path,
                            kMaximumBytes, yaml.size()));
  }
  // yaml-cpp reports by exceptions, also for a wrong node type; none may leave this room.
  try {
    const Node root = YAML::Load(std::string(yaml));
    if (root.IsNull()) return manifest;
    const Place place(manifest.path, "");
    if (const Status keys =
            check_keys(root, place,
                       {"kernel", "defines", "sizes", "args", "launch", "launches", "scratch",
                        "tests", "bench", "captured", "reference", "check", "assume", "counters"});
        !keys.ok()) {
      return keys.error();
    }
    const Status status = for_each_entry(
        root, place, [&](const std::string& key, const Node& value, const Place& at) {
          return read_top_level(key, value, at, manifest);
        });
    if (!status.ok()) return status.error();
    if (manifest.launch && !manifest.launches.empty()) {
      return place.error(root["launches"], "there is a 'launch' too; give one of the two");
    }
    if (!manifest.scratch.empty() && manifest.launches.empty()) {
      return place.error(root["scratch"], "scratch buffers go with 'launches'");
    }
    if (Status blocks = resolve_blocks(manifest); !blocks.ok()) return blocks.error();
  } catch (const YAML::Exception& exception) {
    const std::string line =
        exception.mark.is_null() ? "" : fmt::format("{}:", exception.mark.line + 1);
    return fail(ErrorCode::parse,
                fmt::format("{}:{} not valid YAML: {}", manifest.path, line, exception.msg));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::parse,
                fmt::format("{}: not valid YAML: {}", manifest.path, exception.what()));
  }
  return manifest;
}

Result<Manifest> read_manifest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, fmt::format("cannot open the manifest '{}'", path));
  }
  std::string text(kMaximumBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return fail(ErrorCode::io, fmt::format("cannot read the manifest '{}'", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_manifest(text, path);
}

}  // namespace regraph
