#include "session/compile_commands.h"

#include "base/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <system_error>

namespace regraph {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kLargestCommandsFile = std::size_t{64} << 20;
constexpr std::array<std::string_view, 5> kSourceSuffixes = {".cu", ".cpp", ".cc", ".cxx", ".c"};

fs::path in_folder(const fs::path& folder, const fs::path& path) {
  return (folder / path).lexically_normal();
}

// As sh splits words; variables and the like stay as they are.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;  // a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < command.size();
    if (escapes) {
      word += command[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

CompileCommand command_of(const json& entry) {
  CompileCommand command;
  command.directory = entry.at("directory").get<std::string>();
  command.file = in_folder(command.directory, entry.at("file").get<std::string>());
  if (entry.contains("arguments")) {
    command.arguments = entry.at("arguments").get<std::vector<std::string>>();
  } else {
    command.arguments = words_of(entry.at("command").get<std::string>());
  }
  return command;
}

// The option's value, in the same word ("-Ix", "--define-macro=x") or the next one.
std::optional<std::string> value_of(const std::vector<std::string>& arguments, std::size_t& at,
                                    std::string_view name, bool joined) {
  const std::string_view word = arguments[at];
  if (word == name) {
    if (at + 1 == arguments.size()) return {};
    return arguments[++at];
  }
  if (!word.starts_with(name)) return {};
  const std::string_view rest = word.substr(name.size());
  if (rest.starts_with('=')) return std::string(rest.substr(1));
  if (joined) return std::string(rest);
  return {};
}

template <std::size_t count>
std::optional<std::string> value_of_any(const std::vector<std::string>& arguments, std::size_t& at,
                                        const std::array<std::string_view, count>& long_names,
                                        std::string_view short_name) {
  for (const std::string_view name : long_names) {
    if (auto value = value_of(arguments, at, name, false)) return value;
  }
  return value_of(arguments, at, short_name, true);
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

void define(CompileFlags& flags, const std::string& text) {
  const std::size_t equal = text.find('=');
  std::string name = text.substr(0, equal);
  std::string replacement = equal == std::string::npos ? "1" : text.substr(equal + 1);
  // Macros with parameters are rare on command lines, and lines that end would be text of their
  // own.
  if (!is_identifier(name) || replacement.find('\n') != std::string::npos) return;
  std::erase_if(flags.defines, [&](const auto& known) { return known.first == name; });
  flags.defines.emplace_back(std::move(name), std::move(replacement));
}

bool is_of_the_system(const fs::path& folder) {
  std::error_code absent;
  return folder.string().starts_with("/usr/include") ||
         fs::exists(folder / "cuda_runtime.h", absent);
}

// nvcc takes lists, too.
void add_folders(CompileFlags& flags, const fs::path& directory, std::string_view list) {
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    if (!name.empty()) {
      fs::path folder = in_folder(directory, name);
      auto& all = flags.include_directories;
      if (std::ranges::find(all, folder) == all.end() && !is_of_the_system(folder))
        all.push_back(std::move(folder));
    }
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// What both have.
CompileFlags common_flags(const CompileFlags& a, const CompileFlags& b) {
  CompileFlags both = a;
  const auto absent = [](const auto& all) {
    return [&all](const auto& one) { return std::ranges::find(all, one) == all.end(); };
  };
  std::erase_if(both.include_directories, absent(b.include_directories));
  std::erase_if(both.defines, absent(b.defines));
  return both;
}

}  // namespace

Result<std::vector<CompileCommand>> read_compile_commands(const fs::path& file) {
  const auto text = read_file(file, kLargestCommandsFile);
  if (!text) return text.error();
  // nlohmann reports wrong types by exceptions; none may leave this room.
  try {
    std::vector<CompileCommand> commands;
    for (const json& entry : json::parse(*text))
      commands.push_back(command_of(entry));
    return commands;
  } catch (const std::exception& exception) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: it is no list of compile commands ({}); have your build write it "
                            "anew, or remove it",
                            file.string(), exception.what()));
  }
}

std::string compile_commands_text(const std::vector<CompileCommand>& commands) {
  json all = json::array();
  for (const CompileCommand& one : commands) {
    all.push_back({{"directory", one.directory.string()},
                   {"file", one.file.string()},
                   {"arguments", one.arguments}});
  }
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::vector<CompileCommand> commands_of_call(const fs::path& directory,
                                             const std::vector<std::string>& arguments) {
  std::vector<CompileCommand> commands;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-o" || word == "--output-file" || word == "-MF" || word == "-MT") {
      ++i;
      continue;
    }
    if (word.starts_with('-')) continue;
    if (std::ranges::find(kSourceSuffixes, fs::path(word).extension().string()) !=
        kSourceSuffixes.end())
      commands.push_back({directory, in_folder(directory, word), arguments});
  }
  return commands;
}

CompileFlags flags_of(const CompileCommand& command) {
  constexpr std::array<std::string_view, 2> kIncludes = {"--include-path", "-isystem"};
  constexpr std::array<std::string_view, 1> kSystemIncludes = {"--system-include"};
  constexpr std::array<std::string_view, 1> kDefines = {"--define-macro"};
  constexpr std::array<std::string_view, 1> kUndefines = {"--undefine-macro"};
  CompileFlags flags;
  const std::vector<std::string>& arguments = command.arguments;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (const auto folders = value_of_any(arguments, i, kIncludes, "-I")) {
      add_folders(flags, command.directory, *folders);
    } else if (const auto system = value_of_any(arguments, i, kSystemIncludes, "-isystem")) {
      add_folders(flags, command.directory, *system);
    } else if (const auto macro = value_of_any(arguments, i, kDefines, "-D")) {
      define(flags, *macro);
    } else if (const auto name = value_of_any(arguments, i, kUndefines, "-U")) {
      std::erase_if(flags.defines, [&](const auto& known) { return known.first == *name; });
    }
  }
  return flags;
}

CompileFlags flags_for(const std::vector<CompileCommand>& commands, const fs::path& file) {
  const fs::path wanted = fs::absolute(file).lexically_normal();
  for (const CompileCommand& one : commands) {
    if (one.file == wanted) return flags_of(one);
  }
  for (fs::path folder = wanted.parent_path();; folder = folder.parent_path()) {
    std::optional<CompileFlags> common;
    for (const CompileCommand& one : commands) {
      const auto [left, right] =
          std::mismatch(folder.begin(), folder.end(), one.file.begin(), one.file.end());
      if (left != folder.end() || one.file.extension() != ".cu") continue;
      const CompileFlags flags = flags_of(one);
      common = common ? common_flags(*common, flags) : flags;
    }
    if (common) return *common;
    if (!folder.has_relative_path()) return {};
  }
}

std::string defines_text(const CompileFlags& flags) {
  std::string text;
  for (const auto& [name, replacement] : flags.defines)
    text += fmt::format("#ifndef {0}\n#define {0} {1}\n#endif\n", name, replacement);
  return text;
}

}  // namespace regraph
