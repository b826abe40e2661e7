#include "cli/man_page.h"

#include "cli/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace regraph::cli {
namespace {

// Characters that troff would read as its own.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += std::string("\\&") + c;
    } else {
      result += c;
    }
  }
  return result;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty() && !option->get_group().empty()) options.push_back(option);
  }
  return options;
}

std::string option_names(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames())
    text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames())
    text += (text.empty() ? "--" : ", --") + name;
  return text;
}

// The values an option can take, where the parser knows them: "{mcgs,greedy}" -> mcgs greedy.
std::vector<std::string> choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  std::vector<std::string> result;
  if (open == std::string::npos || close == std::string::npos) return result;
  std::string word;
  for (std::size_t at = open + 1; at <= close; ++at) {
    if (type[at] == ',' || at == close) {
      result.push_back(word);
      word.clear();
    } else {
      word += type[at];
    }
  }
  return result;
}

bool takes_directory(const std::string& name) {
  return name == "output" || name == "resume" || name == "include-dir";
}

std::string bash_completion(const CLI::App& app) {
  std::string all;
  std::string cases;
  for (const CLI::Option* option : named_options(app)) {
    std::string pattern;
    for (const std::string& name : option->get_snames()) {
      all += " -" + name;
      pattern += (pattern.empty() ? "-" : "|-") + name;
    }
    for (const std::string& name : option->get_lnames()) {
      all += " --" + name;
      pattern += (pattern.empty() ? "--" : "|--") + name;
    }
    if (!takes_value(*option)) continue;
    std::string words;
    for (const std::string& choice : choices(*option))
      words += (words.empty() ? "" : " ") + choice;
    const std::string action = !words.empty() ? fmt::format("-W \"{}\"", words)
                               : takes_directory(setting_name(*option)) ? "-d"
                                                                        : "-f";
    cases += fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$current\")); return ;;\n", pattern,
                         action);
  }
  return fmt::format(R"(# bash completion for {0}; source it or put it where bash-completion looks
_{1}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  case "$previous" in
{2}  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "{3}" -- "$current"))
  else
    COMPREPLY=($(compgen -f -X '!*.cu' -- "$current") $(compgen -f -X '!*.json' -- "$current")
               $(compgen -d -- "$current")
               $(compgen -W "doctor" -- "$current"))
  fi
}}
complete -o filenames -F _{1} {0}
)",
                     app.get_name(), "regraph_search", cases, all.substr(1));
}

// Quotes for single-quoted words of zsh and fish; brackets and colons mean something to zsh.
std::string quoted(std::string_view text, bool zsh) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else if (zsh && (c == '[' || c == ']' || c == ':')) {
      result += std::string("\\") + c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string zsh_completion(const CLI::App& app) {
  std::string text = fmt::format("#compdef {}\n_arguments -s \\\n", app.get_name());
  for (const CLI::Option* option : named_options(app)) {
    std::string action;
    if (takes_value(*option)) {
      std::string words;
      for (const std::string& choice : choices(*option))
        words += (words.empty() ? "" : " ") + choice;
      action = !words.empty()                           ? ":value:(" + words + ")"
               : takes_directory(setting_name(*option)) ? ":directory:_files -/"
                                                        : ":value:_files";
    }
    for (const std::string& name : option->get_snames())
      text +=
          fmt::format("  '-{}[{}]{}' \\\n", name, quoted(option->get_description(), true), action);
    for (const std::string& name : option->get_lnames())
      text +=
          fmt::format("  '--{}[{}]{}' \\\n", name, quoted(option->get_description(), true), action);
  }
  return text + "  '*:kernel:_files -g \"*.(cu|json)\"'\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : named_options(app)) {
    text += "complete -c " + app.get_name();
    for (const std::string& name : option->get_snames())
      text += " -s " + name;
    for (const std::string& name : option->get_lnames())
      text += " -l " + name;
    if (takes_value(*option)) text += " -r";
    std::string words;
    for (const std::string& choice : choices(*option))
      words += (words.empty() ? "" : " ") + choice;
    if (!words.empty()) text += " -f -a '" + words + "'";
    text += " -d '" + quoted(option->get_description(), false) + "'\n";
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(".TH REGRAPH\\-SEARCH 1 \"\" \"ReGraph {}\"\n", escaped(version));
  text += ".SH NAME\nregraph\\-search \\- find a faster CUDA kernel that computes the same\n";
  text += ".SH SYNOPSIS\n.B regraph\\-search\n.RI [ options ] \" KERNEL.cu\"\n.br\n";
  text += ".B regraph\\-search \\-\\-resume\n.I DIR\n.br\n.B regraph\\-search doctor\n";
  text += ".SH DESCRIPTION\n" + escaped(app.get_description()) + "\n";
  std::string group;
  for (const CLI::Option* option : named_options(app)) {
    if (option->get_group() != group) {
      group = option->get_group();
      std::string title = group;
      std::transform(title.begin(), title.end(), title.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      text += ".SH " + escaped(title) + "\n";
    }
    text += ".TP\n.B " + escaped(option_names(*option));
    if (takes_value(*option)) {
      const auto words = choices(*option);
      std::string values;
      for (const std::string& word : words)
        values += (values.empty() ? "" : "|") + word;
      text += " " + escaped(values.empty() ? "VALUE" : values);
    }
    text += "\n" + escaped(option->get_description());
    if (!option->get_default_str().empty())
      text += escaped(" (default: " + option->get_default_str() + ")");
    text += "\n";
  }
  text += ".SH NOTES\n.nf\n" + escaped(app.get_footer()) + "\n.fi\n";
  text +=
      ".SH ENVIRONMENT\nEvery option can be set by a variable or in regraph.yaml; flags go "
      "before variables, variables before the file.\n";
  for (const CLI::Option* option : named_options(app)) {
    if (is_setting(*option)) text += ".br\n.B " + environment_name(*option) + "\n";
  }
  text += ".TP\n.B CUDA_HOME, CUDA_PATH\nwhere the CUDA toolkit is\n";
  text +=
      ".TP\n.B REGRAPH_CACHE_DIR\nwhere compiled kernels are kept (default: "
      "~/.cache/regraph)\n";
  return text;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_completion(app);
  if (shell == "zsh") return zsh_completion(app);
  if (shell == "fish") return fish_completion(app);
  return "";
}

}  // namespace regraph::cli
