#include "source/outer_comments.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace regraph::source {
namespace {

struct CommentPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t breaks_before = 0;  // line breaks between it and what stands in front
};

struct CommentGap {
  std::vector<CommentPlace> comments;
  std::size_t breaks_behind = 0;  // behind the last comment
  bool has_blank_line = false;
};

CommentGap comments_between(std::string_view text, std::size_t begin, std::size_t end) {
  CommentGap gap;
  for (std::size_t at = begin; at < end;) {
    if (text[at] == '/') {
      const bool is_line = text.substr(at, 2) == "//";
      std::size_t close = text.find(is_line ? "\n" : "*/", at + 2);
      if (close != std::string_view::npos && !is_line) close += 2;
      close = std::min(close, end);
      gap.comments.push_back({at, close, gap.breaks_behind});
      gap.breaks_behind = 0;
      at = close;
    } else {
      if (text[at] == '\n' && ++gap.breaks_behind > 1) gap.has_blank_line = true;
      ++at;
    }
  }
  return gap;
}

bool speaks_of_licence(std::string_view comment) {
  std::string lower(comment);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::ranges::any_of(
      std::to_array<std::string_view>({"copyright", "license", "licence", "spdx"}),
      [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

OuterComments outer_comments(std::string_view text, std::size_t begin, std::size_t end,
                             bool is_first, bool is_last) {
  const CommentGap gap = comments_between(text, begin, end);
  const std::vector<CommentPlace>& comments = gap.comments;
  OuterComments found{begin, end, false, gap.has_blank_line};
  const auto is_on_line = [](const CommentPlace& comment) { return comment.breaks_before == 0; };
  const bool all_on_line =
      std::ranges::all_of(comments, is_on_line) && gap.breaks_behind == 0 && !is_last;
  if (all_on_line) {
    found.lead_begin = begin;
    return found;
  }
  std::size_t tails = 0;  // comments on the line in front
  while (!is_first && tails < comments.size() && is_on_line(comments[tails]))
    found.tail_end = comments[tails++].end;
  std::size_t leads = comments.size();  // the first comment directly above
  while (!is_last && leads > tails &&
         (leads == comments.size() ? gap.breaks_behind : comments[leads].breaks_before) < 2)
    --leads;
  if (leads < comments.size() &&
      speaks_of_licence(text.substr(comments[leads].begin, end - comments[leads].begin)))
    leads = comments.size();
  found.has_strays = leads > tails;
  const std::size_t below = leads < comments.size() ? comments[leads].begin : end;
  const std::size_t line = text.substr(0, below).rfind('\n');
  const std::size_t line_begin = line == std::string_view::npos ? 0 : line + 1;
  const std::size_t behind = leads == 0 ? found.tail_end : comments[leads - 1].end;
  found.lead_begin = std::max(line_begin, behind);
  return found;
}

}  // namespace regraph::source
