#include "cli/settings.h"

#include "base/files.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace regraph::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 16;

constexpr std::string_view kNoSettings[] = {"help",         "version",      "resume",     "init",
                                            "dry-run",      "print-config", "completion", "man",
                                            "export-graph", "report",       "config"};

// Variables that other programs use for the same.
struct UsualName {
  std::string_view setting;
  const char* variable;
};
constexpr UsualName kUsualNames[] = {{"llm-url", "OPENAI_BASE_URL"}, {"llm-model", "OPENAI_MODEL"}};

Status set(CLI::Option& option, const std::vector<std::string>& values, const std::string& origin) {
  try {
    for (const std::string& value : values)
      option.add_result(value);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::invalid_argument, origin + ": " + error.what());
  }
  return {};
}

std::vector<std::string> values_of(const YAML::Node& node) {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> values;
  for (const YAML::Node& item : node)
    values.push_back(item.as<std::string>());
  return values;
}

// May throw YAML::Exception.
Status apply_file(CLI::App& app, const YAML::Node& root, const std::string& file,
                  Origins& origins) {
  if (root.IsNull()) return {};
  const auto place = [&](const YAML::Node& node) {
    return fmt::format("{}:{}: ", file, node.Mark().line + 1);
  };
  if (!root.IsMap()) {
    return fail(ErrorCode::parse, place(root) + "expected one 'option: value' a line");
  }
  for (const auto& entry : root) {
    const auto key = entry.first.as<std::string>();
    CLI::Option* found = nullptr;
    std::string known;
    for (CLI::Option* option : app.get_options()) {
      if (!is_setting(*option)) continue;
      known += (known.empty() ? "" : ", ") + setting_name(*option);
      if (setting_name(*option) == key) found = option;
    }
    if (found == nullptr) {
      return fail(ErrorCode::invalid_argument, fmt::format("{}unknown setting '{}' (known: {})",
                                                           place(entry.first), key, known));
    }
    if (origins.contains(found)) continue;
    const bool list = entry.second.IsSequence();
    if (!entry.second.IsScalar() && !(list && found->get_items_expected_max() > 1)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}{}: expected a single value", place(entry.second), key));
    }
    std::string origin = place(entry.second);
    origin.resize(origin.size() - 2);
    if (Status status = set(*found, values_of(entry.second), origin); !status) return status;
    origins[found] = origin;
  }
  return {};
}

}  // namespace

bool is_setting(const CLI::Option& option) {
  const std::string name = setting_name(option);
  return !name.empty() && std::ranges::find(kNoSettings, name) == std::end(kNoSettings);
}

std::string setting_name(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() ? "" : names.front();
}

std::string environment_name(const CLI::Option& option) {
  std::string name = "REGRAPH_" + setting_name(option);
  for (char& c : name)
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Result<Origins> complete_settings(CLI::App& app, const std::string& file, bool required) {
  Origins origins;
  for (CLI::Option* option : app.get_options()) {
    if (!is_setting(*option)) continue;
    if (option->count() > 0) {
      origins[option] = "flag";
      continue;
    }
    std::string name = environment_name(*option);
    const char* value = std::getenv(name.c_str());
    const auto usual = std::ranges::find(kUsualNames, setting_name(*option), &UsualName::setting);
    if ((value == nullptr || *value == '\0') && usual != std::end(kUsualNames)) {
      name = usual->variable;
      value = std::getenv(usual->variable);
    }
    if (value == nullptr || *value == '\0') continue;
    if (Status status = set(*option, {value}, name); !status) return status.error();
    origins[option] = name;
  }
  std::error_code ignored;
  if (!required && !std::filesystem::exists(file, ignored)) return origins;
  auto text = read_file(file, kMostBytes);
  if (!text) return std::move(text).error();
  try {
    if (Status status = apply_file(app, YAML::Load(*text), file, origins); !status)
      return status.error();
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::parse,
                fmt::format("{}:{}: not valid YAML: {}", file, error.mark.line + 1, error.msg));
  }
  return origins;
}

std::string settings_text(const CLI::App& app, const Origins& origins) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_setting(*option)) continue;
    const auto found = origins.find(option);
    const std::string origin = found == origins.end() ? "default" : found->second;
    std::string value;
    if (option->count() == 0) {
      value = option->get_expected_min() == 0 && option->get_default_str().empty()
                  ? "false"
                  : option->get_default_str();
    } else if (option->get_items_expected_max() > 1) {
      for (const std::string& one : option->results())
        value += fmt::format("{}\"{}\"", value.empty() ? "" : ", ", one);
      value.insert(0, "[").append("]");
    } else {
      value = option->results().back();
    }
    // What has no value stays out of the file.
    const bool unset = value.empty() || value == "[]";
    text += fmt::format("{}{}: {}  # {}\n", unset ? "# " : "", setting_name(*option),
                        unset ? "" : value, origin);
  }
  return text;
}

}  // namespace regraph::cli
