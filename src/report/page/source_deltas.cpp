#include "report/page/source_deltas.h"

#include "base/edit_script.h"

#include <algorithm>

namespace regraph {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::size_t SourceLines::index_of(std::string_view line) {
  const auto [place, is_new] = known_.emplace(line, lines_.size());
  if (is_new) lines_.push_back(line);
  return place->second;
}

std::vector<SourceHunk> SourceLines::change(std::string_view before, std::string_view after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::vector<SourceHunk> hunks;
  std::size_t at = 0;  // in `before`
  bool open = false;
  for (const Edit& edit : edit_script(old_lines, new_lines)) {
    if (edit.kind == Edit::Kind::keep) {
      ++at;
      open = false;
      continue;
    }
    if (!open) hunks.push_back({at, 0, {}});
    open = true;
    if (edit.kind == Edit::Kind::remove) {
      ++at;
      ++hunks.back().removed;
    } else {
      hunks.back().inserted.push_back(index_of(new_lines[edit.line]));
    }
  }
  return hunks;
}

}  // namespace regraph
