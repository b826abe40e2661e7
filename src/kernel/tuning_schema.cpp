#include "kernel/tuning_schema.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace regraph {

namespace {

using YAML::Node;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::array<const char*, 3> kAxes = {"X", "Y", "Z"};

class SchemaReader {
 public:
  explicit SchemaReader(std::string path) { schema_.path = std::move(path); }

  // May throw YAML::Exception.
  Result<TuningSchema> read(const Node& root) {
    const Node kernel = root["KernelSpecification"];
    if (!kernel || !kernel.IsMap()) return error(root, "KernelSpecification is missing");
    for (const Status& status : {read_parameters(root["ConfigurationSpace"]), read_names(kernel),
                                 read_options(kernel["CompilerOptions"])}) {
      if (!status.ok()) return status.error();
    }
    if (Status status = read_launch(kernel); !status.ok()) return status.error();
    if (Status status = read_arguments(kernel["Arguments"]); !status.ok()) return status.error();
    return std::move(schema_);
  }

 private:
  Error error(const Node& node, const std::string& what,
              ErrorCode code = ErrorCode::invalid_argument) const {
    const int line = node && !node.Mark().is_null() ? node.Mark().line + 1 : 0;
    return fail(code, line > 0 ? fmt::format("{}:{}: {}", schema_.path, line, what)
                               : fmt::format("{}: {}", schema_.path, what));
  }

  // [1, 2] or "[1, 2]", as both tools write lists.
  static Node as_list(const Node& node) {
    if (node && node.IsScalar() && node.Scalar().substr(0, 1) == "[") {
      return YAML::Load(node.Scalar());
    }
    return node;
  }

  Status read_parameters(const Node& space) {
    if (!space) return {};
    for (const Node& parameter : space["TuningParameters"]) {
      if (!parameter["Name"]) return error(parameter, "a tuning parameter without a Name");
      const std::string name = parameter["Name"].as<std::string>();
      const Node values = as_list(parameter["Values"]);
      std::string value;
      if (parameter["Default"] && parameter["Default"].IsScalar()) {
        value = parameter["Default"].Scalar();
      } else if (values && values.IsSequence() && values.size() > 0) {
        value = values[0].Scalar();
      } else {
        return error(parameter, fmt::format("tuning parameter '{}' has no Values", name));
      }
      schema_.manifest.defines.emplace_back(name, value);
      if (const auto number = IntegerExpression::parse(value); number && number->is_constant()) {
        symbols_[name] = *number->evaluate({});
      }
    }
    if (!schema_.manifest.defines.empty()) {
      std::string text;
      for (const auto& [name, value] : schema_.manifest.defines)
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
      schema_.notes.push_back("of every tuning parameter the first value is taken: " + text);
    }
    return {};
  }

  Status read_names(const Node& kernel) {
    const Node language = kernel["Language"];
    if (language && language.Scalar() != "CUDA" && language.Scalar() != "Cuda") {
      return error(language, "Language is '" + language.Scalar() + "'; only CUDA can be read",
                   ErrorCode::unsupported);
    }
    if (!kernel["KernelName"]) return error(kernel, "KernelName is missing");
    if (!kernel["KernelFile"]) return error(kernel, "KernelFile is missing");
    schema_.manifest.kernel = kernel["KernelName"].as<std::string>();
    schema_.kernel_file = kernel["KernelFile"].as<std::string>();
    return {};
  }

  Status read_options(const Node& options) {
    if (!options) return {};
    for (const Node& option : as_list(options)) {
      const std::string text = option.Scalar();
      if (text.substr(0, 2) != "-D") {
        schema_.notes.push_back(fmt::format("compiler option '{}' is not used", text));
        continue;
      }
      const std::size_t equals = text.find('=');
      schema_.manifest.defines.emplace_back(
          text.substr(2, equals == std::string::npos ? equals : equals - 2),
          equals == std::string::npos ? "1" : text.substr(equals + 1));
    }
    return {};
  }

  Result<std::int64_t> number(const Node& node, std::int64_t missing) const {
    if (!node) return missing;
    const auto expression = IntegerExpression::parse(node.Scalar());
    if (!expression) return error(node, expression.error().message);
    const auto value = expression->evaluate(symbols_);
    if (!value) return error(node, value.error().message);
    return *value;
  }

  Status read_launch(const Node& kernel) {
    const Node local = kernel["LocalSize"];
    const Node global = kernel["GlobalSize"];
    if (!local || !global) return error(kernel, "LocalSize and GlobalSize are needed");
    const Node type = kernel["GlobalSizeType"];
    const bool in_threads = type && type.Scalar() != "CUDA";
    Launch launch;
    std::uint32_t* const extents[] = {&launch.block.x, &launch.block.y, &launch.block.z};
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      const auto block = number(local[kAxes[axis]], 1);
      if (!block) return block.error();
      if (*block < 1 || *block > kMaxThreadsPerBlock) {
        return error(local, fmt::format("a block extent must be 1 to {}", kMaxThreadsPerBlock));
      }
      *extents[axis] = static_cast<std::uint32_t>(*block);
      auto grid = number(global[kAxes[axis]], 1);
      if (!grid) return grid.error();
      if (in_threads) *grid = (*grid + *block - 1) / *block;
      if (*grid < 1) return error(global, "a grid extent must be at least 1");
      launch.grid[axis] = *grid;
    }
    if (const Node shared = kernel["SharedMemory"]) {
      const auto bytes = number(shared, 0);
      if (!bytes) return bytes.error();
      launch.dynamic_shared_bytes = *bytes;
    }
    schema_.manifest.launch = std::move(launch);
    return {};
  }

  Status read_arguments(const Node& arguments) {
    if (!arguments || !arguments.IsSequence()) return error(arguments, "Arguments are missing");
    for (const Node& node : arguments) {
      SchemaArgument argument;
      argument.line = node.Mark().line + 1;
      const std::string memory = text_of(node, "MemoryType", "Vector");
      const std::string fill = text_of(node, "FillType", "Constant");
      const Node value = node["FillValue"];
      if (memory == "Local") continue;  // dynamic shared memory, counted in SharedMemory
      if (memory != "Scalar" && memory != "Vector" && memory != "Symbol") {
        return error(node, "MemoryType '" + memory + "' is not known", ErrorCode::unsupported);
      }
      argument.is_scalar = memory == "Scalar";
      if (memory == "Symbol")
        argument.symbol = text_of(node, "SymbolName", text_of(node, "Name", ""));
      if (argument.is_scalar) {
        if (!value) return error(node, "a scalar without FillValue");
        argument.value = value.as<double>();
        schema_.arguments.push_back(std::move(argument));
        continue;
      }
      const auto elements = number(node["Size"], 0);
      if (!elements) return elements.error();
      if (*elements < 1) return error(node, "a vector without Size");
      argument.elements = *elements;
      const std::string access = text_of(node, "AccessType", "ReadWrite");
      argument.direction = access == "ReadOnly"    ? Direction::in
                           : access == "WriteOnly" ? Direction::out
                                                   : Direction::inout;
      if (Status status = read_fill(node, fill, value, argument); !status.ok()) return status;
      schema_.arguments.push_back(std::move(argument));
    }
    return {};
  }

  Status read_fill(const Node& node, const std::string& fill, const Node& value,
                   SchemaArgument& argument) {
    const bool floating = text_of(node, "Type", "float") != "int32";
    const double bound =
        value && value.IsScalar() && fill != "Generator" ? value.as<double>() : 1.0;
    if (fill == "Random") {
      argument.init = floating ? BufferInit{BufferInit::Kind::uniform, 0.0, bound}
                               : BufferInit{BufferInit::Kind::integers, 0.0, std::floor(bound)};
    } else if (fill == "Constant") {
      // Equal values everywhere would hide wrong indices, so inputs vary around the constant.
      if (argument.direction != Direction::out) {
        schema_.notes.push_back(
            fmt::format("{}:{}: instead of a constant the argument is filled with varying values",
                        schema_.path, argument.line));
      }
      argument.init = floating ? BufferInit{} : BufferInit{BufferInit::Kind::integers, 0.0, 15.0};
    } else if (fill == "Generator") {
      argument.init.kind = BufferInit::Kind::iota;
      schema_.notes.push_back(
          fmt::format("{}:{}: instead of the generator '{}' the element's "
                      "index is used",
                      schema_.path, argument.line, value ? value.Scalar() : ""));
    } else {
      return error(node,
                   "FillType '" + fill + "' is not supported; use Constant, Random or Generator",
                   ErrorCode::unsupported);
    }
    return {};
  }

  static std::string text_of(const Node& node, const char* key, const std::string& missing) {
    return node[key] && node[key].IsScalar() ? node[key].Scalar() : missing;
  }

  TuningSchema schema_;
  Symbols symbols_;  // tuning parameters
};

}  // namespace

bool is_tuning_schema(std::string_view text) {
  return text.find("KernelSpecification") != std::string_view::npos;
}

Result<TuningSchema> parse_tuning_schema(std::string_view text, std::string path) {
  if (text.size() > kLargestFile) {
    return fail(ErrorCode::resource,
                fmt::format("{}: a T1 file is limited to {} bytes", path, kLargestFile));
  }
  // JSON is YAML. yaml-cpp reports by exceptions, also for a wrong node type.
  try {
    return SchemaReader(path).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& exception) {
    const std::string line =
        exception.mark.is_null() ? "" : fmt::format("{}:", exception.mark.line + 1);
    return fail(ErrorCode::parse,
                fmt::format("{}:{} not a valid T1 file: {}", path, line, exception.msg));
  } catch (const std::exception& exception) {
    return fail(ErrorCode::parse,
                fmt::format("{}: not a valid T1 file: {}", path, exception.what()));
  }
}

Result<Manifest> bind_arguments(const TuningSchema& schema, const KernelSignature& signature) {
  Manifest manifest = schema.manifest;
  manifest.path = schema.path;
  std::vector<const Parameter*> passed;
  for (const Parameter& parameter : signature.parameters) {
    if (!parameter.is_symbol) passed.push_back(&parameter);
  }
  std::size_t next = 0;
  for (const SchemaArgument& argument : schema.arguments) {
    ManifestArgument said;
    said.line = argument.line;
    if (!argument.symbol.empty()) {
      said.init = argument.init;
      manifest.arguments.emplace_back(argument.symbol, std::move(said));
      continue;
    }
    if (next == passed.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}:{}: more arguments than the {} parameters of '{}'", schema.path,
                              argument.line, passed.size(), signature.name));
    }
    const Parameter& parameter = *passed[next++];
    if (parameter.is_pointer == argument.is_scalar) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("{}:{}: parameter '{}' is a {}, the argument a {}", schema.path,
                      argument.line, parameter.name, parameter.is_pointer ? "pointer" : "scalar",
                      argument.is_scalar ? "scalar" : "vector"));
    }
    if (argument.is_scalar) {
      // An integer may be a size of other arguments.
      if (is_floating(parameter.type) || *argument.value < 1) {
        said.value = argument.value;
        manifest.arguments.emplace_back(parameter.name, std::move(said));
      } else {
        manifest.sizes[parameter.name] = static_cast<std::int64_t>(*argument.value);
      }
      continue;
    }
    said.direction = parameter.points_to_const ? Direction::in : argument.direction;
    said.init = argument.init;
    said.shape = std::vector<IntegerExpression>{argument.elements};
    manifest.arguments.emplace_back(parameter.name, std::move(said));
  }
  if (next != passed.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {} arguments for the {} parameters of '{}'", schema.path, next,
                            passed.size(), signature.name));
  }
  return manifest;
}

void prefer_expressions(const Manifest& inferred, Manifest& bound) {
  const auto same = [&](const IntegerExpression& a, const IntegerExpression& b, Symbols symbols) {
    if (bound.launch) {
      const Dim3& block = bound.launch->block;
      symbols.insert({{"bx", block.x}, {"by", block.y}, {"bz", block.z}});
    }
    const auto left = a.evaluate(symbols);
    const auto right = b.evaluate(symbols);
    return left.ok() && right.ok() && *left == *right;
  };
  for (auto& [name, argument] : bound.arguments) {
    if (!argument.shape) continue;
    for (const auto& [other, found] : inferred.arguments) {
      if (other != name || !found.shape || found.shape->size() != 1) continue;
      if (same(found.shape->front(), argument.shape->front(), bound.sizes))
        argument.shape = found.shape;
    }
  }
  if (!bound.launch || !inferred.launch) return;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    IntegerExpression& grid = bound.launch->grid[axis];
    if (same(inferred.launch->grid[axis], grid, bound.sizes)) grid = inferred.launch->grid[axis];
  }
}

}  // namespace regraph
