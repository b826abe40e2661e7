#include "eval/compile/compiler_log.h"

#include "eval/compile/compiler.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace regraph::compile_internal {

namespace {

bool is_path_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '+' || c == '/' || c == '~' || c == '@';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "/a/b/c.h" -> "c.h". A path starts at a '/' that follows no path character, and has a name
// between its first two slashes; a lone division sign or comment does not look like that.
std::string without_directories(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const bool starts = line[i] == '/' && (i == 0 || !is_path_character(line[i - 1]));
    std::size_t end = i;
    while (starts && end < line.size() && is_path_character(line[end]))
      ++end;
    const std::string_view path = line.substr(i, end - i);
    const std::size_t last = path.rfind('/');
    if (!starts || last == 0 || last == std::string_view::npos || path.substr(0, 2) == "//") {
      out += line[i++];
      continue;
    }
    out += path.substr(last + 1);
    i = end;
  }
  return out;
}

// NVRTC writes "name(12): error"; editors and people expect "name:12: error".
std::string with_colon_lines(std::string line) {
  const std::size_t open = line.find('(');
  if (open == 0 || open == std::string::npos) return line;
  std::size_t close = open + 1;
  while (close < line.size() && is_digit(line[close]))
    ++close;
  if (close == open + 1 || line.compare(close, 2, "):") != 0) return line;
  for (std::size_t i = 0; i < open; ++i) {
    if (!is_path_character(line[i])) return line;
  }
  return line.substr(0, open) + ":" + line.substr(open + 1, close - open - 1) +
         line.substr(close + 1);
}

}  // namespace

std::string clean_log(std::string_view log, bool errors_first) {
  std::string out;
  std::string before_first_error;
  bool in_errors = !errors_first;
  while (!log.empty() && out.size() < kLogLimitBytes) {
    const std::size_t end = log.find('\n');
    std::string line(log.substr(0, end));
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    // The only part that differs from run to run; logs are compared and cached.
    if (line.find("Compile time = ") != std::string::npos) continue;
    for (char& c : line) {
      if (c == '\t') c = ' ';
      if (c < 32 || c > 126) c = '?';
    }
    line = with_colon_lines(without_directories(line));
    if (line.find("error") != std::string::npos) in_errors = true;
    std::string& target = in_errors ? out : before_first_error;
    if (target.size() < kLogLimitBytes) target += line + "\n";
  }
  if (out.empty()) out = std::move(before_first_error);
  while (!out.empty() && (out.back() == '\n' || out.back() == ' '))
    out.pop_back();
  if (out.size() > kLogLimitBytes) {
    constexpr std::string_view kCut = "\n... (cut)";
    out.resize(kLogLimitBytes - kCut.size());
    out += kCut;
  }
  return out;
}

}  // namespace regraph::compile_internal

namespace regraph {

namespace {

// Of a line of source and the line with the caret below it, with which the text begins.
std::string_view name_above_caret(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end);
  const std::size_t caret = text.substr(end + 1).find('^');
  const std::size_t next = text.substr(end + 1).find('\n');
  if (caret == std::string_view::npos || caret > next || caret >= line.size()) return {};
  std::size_t last = caret;
  while (last < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[last])) != 0 || line[last] == '_'))
    ++last;
  return line.substr(caret, last - caret);
}

}  // namespace

bool needs_nvcc(std::string_view refusal) {
  // As NVRTC 12 and 13 say it. The last are names out of headers that NVRTC does not have and that
  // were therefore left out or are empty.
  constexpr std::string_view kSigns[] = {
      "could not open source file",
      "cannot open source file",
      "JIT mode",
      "JIT compilation",
      "NVRTC",
      "__CUDACC_RTC__",
      "error: namespace \"",
      "name followed by \"::\" must be a class or namespace name",
  };
  return std::ranges::any_of(
      kSigns, [&](std::string_view sign) { return refusal.find(sign) != std::string_view::npos; });
}

std::vector<std::string> undefined_names(std::string_view refusal) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  // The name stands in quotes behind the last of these words, or above the caret.
  constexpr std::string_view kBefore[] = {"error: identifier \"", "\" has no member \""};
  constexpr std::string_view kNoScope = "name followed by \"::\" must be a class or namespace name";
  constexpr std::string_view kNoTemplate = " is not a template";
  for (std::size_t begin = 0; begin < refusal.size();) {
    const std::size_t end = std::min(refusal.find('\n', begin), refusal.size());
    const std::string_view line = refusal.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view words : kBefore) {
      const std::size_t at = line.find(words);
      if (at == std::string_view::npos || line.find("error: ") == std::string_view::npos) continue;
      const std::string_view rest = line.substr(at + words.size());
      add(rest.substr(0, rest.find('"')));
    }
    if (const std::size_t at = line.find(kNoTemplate); at != std::string_view::npos) {
      const std::size_t before = line.rfind(' ', at - 1);
      std::string_view name = line.substr(before + 1, at - before - 1);
      if (name.starts_with('"')) name = name.substr(1, name.size() - 2);
      add(name);
    }
    if (line.find(kNoScope) != std::string_view::npos)
      add(name_above_caret(refusal.substr(std::min(begin, refusal.size()))));
  }
  return names;
}

}  // namespace regraph
