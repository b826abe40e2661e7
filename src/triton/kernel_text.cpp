#include "triton/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace regraph::triton {
namespace {

using nlohmann::json;

constexpr std::string_view kHeading = "# regraph-triton:";
constexpr int kMostWarps = static_cast<int>(kMaxThreadsPerBlock) / kWarpThreads;
constexpr int kMostStages = 16;

struct TypeName {
  std::string_view name;
  ScalarType type;
};
// The first name of a type is the one that is written.
constexpr TypeName kTypes[] = {
    {"fp32", ScalarType::f32},  {"fp16", ScalarType::f16}, {"bf16", ScalarType::bf16},
    {"fp64", ScalarType::f64},  {"i32", ScalarType::i32},  {"i64", ScalarType::i64},
    {"i16", ScalarType::i16},   {"i8", ScalarType::i8},    {"u32", ScalarType::u32},
    {"u64", ScalarType::u64},   {"u16", ScalarType::u16},  {"u8", ScalarType::u8},
    {"i1", ScalarType::boolean}};

Error at_header(const std::string& message) {
  return fail(ErrorCode::parse, "the comment '" + std::string(kHeading) + "': " + message);
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && kLetters.find(text[0]) != std::string_view::npos &&
         text.find_first_not_of(std::string(kLetters) + "0123456789") == std::string_view::npos;
}

// The lines of the comment as YAML, and what follows it.
std::pair<std::string, std::string> split(std::string_view text) {
  std::string yaml;
  std::size_t at = text.find('\n') == std::string_view::npos ? text.size() : text.find('\n') + 1;
  while (at < text.size() && text[at] == '#') {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    yaml += text.substr(at + 1, end - at - 1);
    yaml += '\n';
    at = std::min(end + 1, text.size());
  }
  std::string_view module = text.substr(at);
  while (module.starts_with('\n'))
    module.remove_prefix(1);
  return {std::move(yaml), std::string(module)};
}

// A YAML scalar as JSON has it.
std::string constant_text(const YAML::Node& node) {
  if (node.IsNull()) return "null";
  const std::string& scalar = node.Scalar();
  if (node.Tag() == "!") return json(scalar).dump();  // it was quoted
  std::int64_t integer = 0;
  const char* const last = scalar.data() + scalar.size();
  if (std::from_chars(scalar.data(), last, integer).ptr == last && !scalar.empty())
    return std::to_string(integer);
  bool truth = false;
  if (YAML::convert<bool>::decode(node, truth)) return truth ? "true" : "false";
  double number = 0.0;
  if (YAML::convert<double>::decode(node, number)) return json(number).dump();
  return json(scalar).dump();
}

class HeaderReader {
 public:
  HeaderReader() = default;
  // What is left out is as in `base`.
  explicit HeaderReader(const KernelText& base)
      : result_(base), may_be_open_(base.kernel.empty()) {}

  Result<KernelText> read(const std::string& yaml, std::string module) {
    result_.module = std::move(module);
    try {
      const YAML::Node root = YAML::Load(yaml);
      if (!root.IsMap()) return at_header("it holds no entries");
      for (const auto& entry : root) {
        const std::string key = entry.first.Scalar();
        if (Status status = take(key, entry.second); !status) return status.error();
      }
    } catch (const YAML::Exception& error) {
      return at_header(error.what());
    }
    const bool is_open = may_be_open_ && result_.kernel.empty();
    if (!is_open && !is_name(result_.kernel)) return at_header("'kernel' must name a function");
    for (const std::string& name : result_.divisible) {
      if (std::ranges::find(result_.parameters, name, &TypedParameter::name) ==
          result_.parameters.end())
        return at_header("'divisible' names '" + name + "', which 'signature' does not");
    }
    std::ranges::sort(result_.divisible);
    for (const auto& [name, expression] : result_.arguments) {
      if (is_open && result_.parameters.empty()) break;  // no signature says what is an integer
      const auto found = std::ranges::find(result_.parameters, name, &TypedParameter::name);
      if (found == result_.parameters.end() || found->is_pointer || is_floating(found->type))
        return at_header("'arguments' names '" + name + "', which is no integer of 'signature'");
    }
    return std::move(result_);
  }

 private:
  Status take(const std::string& key, const YAML::Node& value) {
    if (key == "kernel") return take_text(value, result_.kernel);
    if (key == "signature") return take_signature(value);
    if (key == "constants") return take_constants(value);
    if (key == "grid") return take_grid(value);
    if (key == "num_warps") return take_number(key, value, kMostWarps, result_.warps);
    if (key == "num_stages") return take_number(key, value, kMostStages, result_.stages);
    if (key == "num_ctas") return take_number(key, value, kMostCtas, result_.ctas);
    if (key == "divisible") return take_divisible(value);
    if (key == "arguments") return take_arguments(value);
    if (key == "choices") return take_choices(value);
    if (key == "contract") {
      if (!YAML::convert<bool>::decode(value, result_.contracts))
        return at_header("'contract' is true or false");
      return {};
    }
    return at_header("'" + key + "' is not known");
  }

  static Status take_text(const YAML::Node& value, std::string& target) {
    if (!value.IsScalar()) return at_header("a name is expected");
    target = value.Scalar();
    return {};
  }

  static Status take_number(const std::string& key, const YAML::Node& value, int most,
                            int& target) {
    int number = 0;
    const bool is_number = value.IsScalar() && YAML::convert<int>::decode(value, number);
    const bool wants_power = key != "num_stages";
    const bool is_power = (number & (number - 1)) == 0 || !wants_power;
    if (!is_number || number < 1 || number > most || !is_power) {
      return at_header(fmt::format("'{}' is a {} from 1 to {}", key,
                                   wants_power ? "power of two" : "number", most));
    }
    target = number;
    return {};
  }

  Status take_signature(const YAML::Node& value) {
    if (!value.IsMap()) return at_header("'signature' is a list of names with types");
    result_.parameters.clear();
    for (const auto& entry : value) {
      if (!entry.second.IsScalar()) return at_header("'signature' is a list of names with types");
      auto parameter = parse_type(entry.first.Scalar(), entry.second.Scalar());
      if (!parameter) return parameter.error();
      result_.parameters.push_back(*std::move(parameter));
    }
    return {};
  }

  Status take_constants(const YAML::Node& value) {
    if (!value.IsMap()) return at_header("'constants' is a list of names with values");
    for (const auto& entry : value) {
      const bool is_value = entry.second.IsScalar() || entry.second.IsNull();
      if (!is_name(entry.first.Scalar()) || !is_value)
        return at_header("'constants' is a list of names with values");
      result_.constants[entry.first.Scalar()] = constant_text(entry.second);
    }
    return {};
  }

  Status take_grid(const YAML::Node& value) {
    result_.grid.fill("1");
    if (value.IsScalar()) {
      result_.grid[0] = value.Scalar();
      return {};
    }
    if (!value.IsSequence() || value.size() > result_.grid.size())
      return at_header("'grid' is a list of one to three expressions");
    for (std::size_t axis = 0; axis < value.size(); ++axis)
      result_.grid.at(axis) = value[axis].Scalar();
    return {};
  }

  Status take_divisible(const YAML::Node& value) {
    if (!value.IsSequence()) return at_header("'divisible' is a list of parameters");
    result_.divisible.clear();
    for (const auto& name : value)
      result_.divisible.push_back(name.Scalar());
    return {};
  }

  Status take_arguments(const YAML::Node& value) {
    if (!value.IsMap()) return at_header("'arguments' is a list of integers with expressions");
    result_.arguments.clear();
    for (const auto& entry : value)
      result_.arguments[entry.first.Scalar()] = entry.second.Scalar();
    return {};
  }

  Status take_choices(const YAML::Node& value) {
    if (!value.IsMap()) return at_header("'choices' is a list of names with lists of values");
    result_.choices.clear();
    for (const auto& entry : value) {
      if (!entry.second.IsSequence())
        return at_header("'choices' is a list of names with lists of values");
      for (const auto& one : entry.second)
        result_.choices[entry.first.Scalar()].push_back(constant_text(one));
    }
    return {};
  }

  KernelText result_;
  bool may_be_open_ = false;  // it need not name the kernel
};

// Quoted where YAML would read another thing.
std::string yaml_text(const std::string& text) {
  return is_name(text) ? text : json(text).dump();
}

}  // namespace

Result<TypedParameter> parse_type(std::string_view name, std::string_view type) {
  TypedParameter parameter{std::string(name), ScalarType::f32, type.starts_with('*')};
  if (!is_name(name)) return at_header(fmt::format("'{}' is no name", name));
  const std::string_view plain = parameter.is_pointer ? type.substr(1) : type;
  const auto* const found = std::ranges::find(kTypes, plain, &TypeName::name);
  if (found == std::end(kTypes)) {
    return at_header(
        fmt::format("'{}' is of type '{}', which is not known; Triton's names are e.g. \"*fp32\", "
                    "\"*fp16\", \"*bf16\", i32, i64, fp32",
                    name, type));
  }
  parameter.type = found->type;
  return parameter;
}

std::string type_name(const TypedParameter& parameter) {
  const auto* const found = std::ranges::find(kTypes, parameter.type, &TypeName::type);
  return (parameter.is_pointer ? "*" : "") + std::string(found->name);
}

std::string KernelText::text() const {
  std::vector<std::string> types;
  std::vector<std::string> values;
  for (const TypedParameter& parameter : parameters)
    types.push_back(fmt::format("{}: \"{}\"", parameter.name, type_name(parameter)));
  for (const auto& [name, value] : constants)
    values.push_back(fmt::format("{}: {}", name, value));
  std::string result = fmt::format("{}\n#   kernel: {}\n#   signature: {{{}}}\n", kHeading, kernel,
                                   fmt::join(types, ", "));
  if (!values.empty()) result += fmt::format("#   constants: {{{}}}\n", fmt::join(values, ", "));
  result += fmt::format("#   grid: [{}, {}, {}]\n", yaml_text(grid[0]), yaml_text(grid[1]),
                        yaml_text(grid[2]));
  result += fmt::format("#   num_warps: {}\n#   num_stages: {}\n", warps, stages);
  if (ctas != 1) result += fmt::format("#   num_ctas: {}\n", ctas);
  if (!divisible.empty())
    result += fmt::format("#   divisible: [{}]\n", fmt::join(divisible, ", "));
  std::vector<std::string> passed;
  for (const auto& [name, expression] : arguments)
    passed.push_back(fmt::format("{}: {}", name, yaml_text(expression)));
  if (!passed.empty()) result += fmt::format("#   arguments: {{{}}}\n", fmt::join(passed, ", "));
  std::vector<std::string> lists;
  for (const auto& [name, tried] : choices)
    lists.push_back(fmt::format("{}: [{}]", name, fmt::join(tried, ", ")));
  if (!lists.empty()) result += fmt::format("#   choices: {{{}}}\n", fmt::join(lists, ", "));
  if (!contracts) result += "#   contract: false\n";
  return result + "\n" + module;
}

KernelSignature KernelText::signature() const {
  KernelSignature result;
  result.name = kernel;
  for (const TypedParameter& parameter : parameters) {
    Parameter one;
    one.name = parameter.name;
    one.type = parameter.type;
    one.is_pointer = parameter.is_pointer;
    result.parameters.push_back(std::move(one));
  }
  return result;
}

Result<LaunchPlan> KernelText::launch(std::int64_t shared_bytes) const {
  std::map<std::string, IntegerExpression, std::less<>> values;
  for (const auto& [name, value] : constants) {
    std::int64_t number = 0;
    const char* const last = value.data() + value.size();
    if (std::from_chars(value.data(), last, number).ptr == last)
      values.emplace(name, IntegerExpression(number));
  }
  Launch launch;
  launch.kernel = kernel;
  launch.block = {static_cast<std::uint32_t>(warps * kWarpThreads), 1, 1};
  launch.dynamic_shared_bytes = IntegerExpression(shared_bytes);
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    auto extent = IntegerExpression::parse(grid.at(axis));
    if (!extent) return at_header("'grid': " + extent.error().message);
    launch.grid.at(axis) = extent->substitute(values);
  }
  // As Triton's launcher does: a program's blocks follow each other along x.
  if (ctas != 1)
    launch.grid[0] = IntegerExpression::multiply(launch.grid[0], IntegerExpression(ctas));
  if (!arguments.empty()) {
    for (const TypedParameter& parameter : parameters) {
      const auto said = arguments.find(parameter.name);
      launch.arguments.push_back(said == arguments.end() ? parameter.name : said->second);
    }
  }
  return LaunchPlan{{std::move(launch)}};
}

std::string KernelText::job(std::string_view architecture) const {
  json result;
  result["kernel"] = kernel;
  result["architecture"] = architecture;
  result["signature"] = json::array();
  for (const TypedParameter& parameter : parameters)
    result["signature"].push_back({parameter.name, type_name(parameter)});
  result["constants"] = json::object();
  for (const auto& [name, value] : constants)
    result["constants"][name] = json::parse(value, nullptr, false);
  result["divisible"] = json::object();
  for (const std::string& name : divisible)
    result["divisible"][name] = kDivisor;
  result["options"] = {
      {"num_warps", warps}, {"num_stages", stages}, {"enable_fp_fusion", contracts}};
  if (ctas != 1) result["options"]["num_ctas"] = ctas;
  return result.dump();
}

bool has_header(std::string_view text) {
  return text.starts_with(kHeading);
}

namespace {

Result<KernelText> read_with(HeaderReader reader, std::string_view text) {
  if (!has_header(text)) {
    return fail(ErrorCode::not_found,
                "the file does not begin with the comment '" + std::string(kHeading) + "'");
  }
  auto [yaml, module] = split(text);
  return reader.read(yaml, std::move(module));
}

}  // namespace

Result<KernelText> parse_kernel_text(std::string_view text) {
  return read_with(HeaderReader(), text);
}

Result<KernelText> parse_kernel_text(std::string_view text, const KernelText& base) {
  return read_with(HeaderReader(base), text);
}

std::set<std::string> header_keys(std::string_view text) {
  std::set<std::string> keys;
  if (!has_header(text)) return keys;
  try {
    const YAML::Node root = YAML::Load(split(text).first);
    for (const auto& entry : root)
      keys.insert(entry.first.Scalar());
  } catch (const YAML::Exception&) {
    keys.clear();
  }
  return keys;
}

std::int64_t shared_bytes_of(std::string_view ptx) {
  constexpr std::string_view kBegin = "// triton shared=";
  std::int64_t bytes = 0;
  if (ptx.starts_with(kBegin))
    std::from_chars(ptx.data() + kBegin.size(), ptx.data() + ptx.size(), bytes);
  return bytes;
}

}  // namespace regraph::triton
