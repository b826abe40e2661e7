#include "base/unified_diff.h"

#include "base/edit_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace regraph {

namespace {

// Unchanged lines shown around a change, as `diff -u` does.
constexpr std::size_t kContext = 3;

// With their line breaks, so that a missing one at the end is a difference.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

struct Hunk {
  std::size_t first = 0;  // edits [first, last)
  std::size_t last = 0;
};

std::vector<Hunk> hunks_of(const std::vector<Edit>& script) {
  std::vector<Hunk> hunks;
  for (std::size_t index = 0; index < script.size(); ++index) {
    if (script[index].kind == Edit::Kind::keep) continue;
    const std::size_t first = index > kContext ? index - kContext : 0;
    const std::size_t last = std::min(index + kContext + 1, script.size());
    if (!hunks.empty() && first <= hunks.back().last) {
      hunks.back().last = last;
    } else {
      hunks.push_back({first, last});
    }
  }
  return hunks;
}

// "12,5"; an empty range is named by the line before it.
std::string range(std::size_t lines_before, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? lines_before : lines_before + 1, count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  if (before == after) return "";
  const std::vector<std::string_view> old_lines = lines_of(before);
  const std::vector<std::string_view> new_lines = lines_of(after);
  const std::vector<Edit> script = edit_script(old_lines, new_lines);

  std::string text = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  std::size_t edit = 0;
  std::size_t old_line = 0;  // lines passed so far
  std::size_t new_line = 0;
  const auto pass = [&](Edit::Kind kind) {
    old_line += kind != Edit::Kind::insert ? 1 : 0;
    new_line += kind != Edit::Kind::remove ? 1 : 0;
  };
  for (const Hunk& hunk : hunks_of(script)) {
    for (; edit < hunk.first; ++edit)
      pass(script[edit].kind);
    const std::size_t old_first = old_line;
    const std::size_t new_first = new_line;
    std::string body;
    for (; edit < hunk.last; ++edit) {
      const auto [kind, line] = script[edit];
      const std::string_view content =
          kind == Edit::Kind::insert ? new_lines[line] : old_lines[line];
      body += kind == Edit::Kind::keep ? ' ' : kind == Edit::Kind::remove ? '-' : '+';
      body += content;
      if (!content.ends_with('\n')) body += "\n\\ No newline at end of file\n";
      pass(kind);
    }
    fmt::format_to(std::back_inserter(text), "@@ -{} +{} @@\n",
                   range(old_first, old_line - old_first), range(new_first, new_line - new_first));
    text += body;
  }
  return text;
}

}  // namespace regraph
