#include "llm/prompt/answer_edits.h"
#include "llm/prompt/edit_lines.h"
#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

// The shown text as numbers, equal for equal lines: comparing texts again and again would take
// too long.
class ShownLines {
 public:
  explicit ShownLines(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      lines_.push_back(line);
      const std::string_view compared = without_end(line);
      numbers_.push_back(known_.emplace(compared, known_.size()).first->second);
    }
  }

  [[nodiscard]] const std::vector<std::string_view>& lines() const { return lines_; }

  // Where the lines of `search` begin; places may overlap. Knuth, Morris and Pratt's search.
  [[nodiscard]] std::vector<std::size_t> places_of(std::string_view search) const {
    std::vector<std::size_t> wanted;
    while (!search.empty()) {
      const auto found = known_.find(without_end(take_line(search)));
      if (found == known_.end()) return {};
      wanted.push_back(found->second);
    }
    std::vector<std::size_t> fallback(wanted.size(), 0);
    for (std::size_t at = 1, length = 0; at < wanted.size(); ++at) {
      while (length > 0 && wanted[at] != wanted[length])
        length = fallback[length - 1];
      if (wanted[at] == wanted[length]) ++length;
      fallback[at] = length;
    }
    std::vector<std::size_t> places;
    for (std::size_t at = 0, length = 0; at < numbers_.size(); ++at) {
      while (length > 0 && (length == wanted.size() || numbers_[at] != wanted[length]))
        length = fallback[length - 1];
      if (numbers_[at] == wanted[length]) ++length;
      if (length == wanted.size()) places.push_back(at + 1 - length);
    }
    return places;
  }

  // Why `search` stands nowhere.
  [[nodiscard]] std::string reason(std::string_view search) const {
    while (!search.empty()) {
      const std::string_view line = without_end(take_line(search));
      if (known_.contains(line)) continue;
      const std::string visible = squeezed(line);
      for (const std::string_view other : lines_) {
        if (squeezed(other) != visible) continue;
        return fmt::format(
            "its line {} differs in white space from the line {} of the code; repeat lines exactly",
            spaced(line), spaced(without_end(other)));
      }
      return fmt::format(
          "its line {} does not stand in the code that was shown; repeat lines "
          "exactly as they stand there",
          quoted(line));
    }
    return "its lines stand in the code that was shown, but not one directly after the other; "
           "leave none out";
  }

 private:
  static std::string squeezed(std::string_view line) {
    std::string visible;
    for (const char c : line) {
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') visible += c;
    }
    return visible;
  }
  // Quoted with its blanks, which are what matters.
  static std::string spaced(std::string_view line) {
    const std::string_view start = line.substr(0, std::min(line.size(), kQuoted));
    return start.size() < line.size() ? quoted(line) : fmt::format("\"{}\"", clean_text(line));
  }

  std::vector<std::string_view> lines_;
  std::vector<std::size_t> numbers_;                         // of each line
  std::unordered_map<std::string_view, std::size_t> known_;  // number of each different line
};

// Lines [first, last) of the shown text.
struct EditPlace {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t edit = 0;
};

std::string edit_name(std::span<const CodeEdit> edits, std::size_t edit) {
  return fmt::format("search-and-replace block {}, {},", edit + 1,
                     quoted(first_visible_line(edits[edit].search)));
}

Result<std::vector<EditPlace>> places_of_edits(const ShownLines& shown,
                                               std::span<const CodeEdit> edits) {
  std::vector<EditPlace> places;
  for (std::size_t edit = 0; edit < edits.size(); ++edit) {
    const std::string& search = edits[edit].search;
    if (first_visible_line(search).empty()) {
      return wrong_edit(
          fmt::format("search-and-replace block {} has nothing to search for", edit + 1));
    }
    const std::vector<std::size_t> found = shown.places_of(search);
    if (found.empty()) {
      return wrong_edit(
          fmt::format("{} was found 0 times: {}", edit_name(edits, edit), shown.reason(search)));
    }
    if (found.size() > 1) {
      return wrong_edit(
          fmt::format("{} was found {} times in the code that was shown, first on lines {} and {}; "
                      "take in lines around it until it stands there once",
                      edit_name(edits, edit), found.size(), found[0] + 1, found[1] + 1));
    }
    const auto length = static_cast<std::size_t>(std::ranges::count(search, '\n')) +
                        (search.ends_with('\n') ? 0 : 1);
    places.push_back({found[0], found[0] + length, edit});
  }
  std::ranges::sort(places, {}, &EditPlace::first);
  for (std::size_t next = 1; next < places.size(); ++next) {
    if (places[next - 1].last <= places[next].first) continue;
    return wrong_edit(fmt::format(
        "{} and block {} overlap: both change line {} of the code that was shown; make one of them",
        edit_name(edits, places[next - 1].edit), places[next].edit + 1, places[next].first + 1));
  }
  return places;
}

}  // namespace

Result<std::string> apply_edits(std::string_view shown, std::span<const CodeEdit> edits) {
  const ShownLines lines(shown);
  const Result<std::vector<EditPlace>> places = places_of_edits(lines, edits);
  if (!places) return places.error();
  std::string out;
  std::size_t at = 0;
  const auto keep_until = [&](std::size_t line) {
    for (; at < line; ++at)
      out += lines.lines()[at];
  };
  for (const EditPlace& place : *places) {
    keep_until(place.first);
    out += edits[place.edit].replace;
    at = place.last;
  }
  keep_until(lines.lines().size());
  return out;
}

}  // namespace regraph::llm
