#include "llm/prompt/answer_edits.h"

#include "llm/prompt/edit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace regraph::llm {

namespace {

constexpr std::size_t kMostEdits = 64;
constexpr std::string_view kSearch = "<<<<<<< SEARCH";
constexpr std::string_view kDivider = "=======";
constexpr std::string_view kReplace = ">>>>>>> REPLACE";
constexpr std::string_view kBlanks = " \t\r";

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(kBlanks), line.size()));
}

// "<<<<<<< SEARCH", perhaps indented, in other letters or with other blanks.
bool begins_like_search(std::string_view line) {
  constexpr std::string_view kWord = "search";
  line = without_indent(line);
  const std::size_t word = line.find_first_not_of("< \t");
  if (!line.starts_with("<<<<<") || word == std::string_view::npos) return false;
  return std::ranges::equal(line.substr(word, kWord.size()), kWord, {},
                            [](char c) { return static_cast<char>(c | 0x20); });
}

// No line of C++ begins so.
bool looks_like_marker(std::string_view line) {
  line = without_indent(line);
  return line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>");
}

class EditReader {
 public:
  Result<EditAnswer> read(std::string_view text) {
    while (!text.empty()) {
      if (Status status = take(take_line(text)); !status) return status.error();
    }
    if (place_ != Place::outside) {
      return wrong_edit(fmt::format(
          "{} does not end: the line {} is missing", block(),
          place_ == Place::search ? "'=======', and then '>>>>>>> REPLACE'" : "'>>>>>>> REPLACE'"));
    }
    if (answer_.edits.empty()) return wrong_edit("the answer holds no search-and-replace block");
    return std::move(answer_);
  }

 private:
  enum class Place : std::uint8_t { outside, search, replace };

  [[nodiscard]] std::string block() const {
    const std::string_view first = first_visible_line(edit_.search);
    return fmt::format("search-and-replace block {}{}{}", number_, first.empty() ? "" : ", ",
                       first.empty() ? "" : quoted(first) + ",");
  }

  Status take(std::string_view line) {
    const std::string_view marker = without_end(line);
    if (place_ == Place::outside) return take_outside(line, marker);
    if (place_ == Place::search && marker == kDivider) {
      place_ = Place::replace;
      return {};
    }
    if (place_ == Place::replace && marker == kReplace) return finish();
    if (marker == kDivider || looks_like_marker(line)) {
      return wrong_edit(fmt::format(
          "{} holds the line {} where it cannot stand; each block is '<<<<<<< SEARCH', the lines "
          "to look for, '=======', the new lines, '>>>>>>> REPLACE', each marker alone on its line",
          block(), quoted(line)));
    }
    std::string& side = place_ == Place::search ? edit_.search : edit_.replace;
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    side += line;
    side += '\n';
    return {};
  }

  Status take_outside(std::string_view line, std::string_view marker) {
    if (marker == kSearch) {
      if (++number_ > kMostEdits) {
        return wrong_edit(fmt::format(
            "more than {} search-and-replace blocks; give the whole device code", kMostEdits));
      }
      place_ = Place::search;
      return {};
    }
    if (begins_like_search(line)) {
      return wrong_edit(
          fmt::format("search-and-replace block {} begins with {}; the line must be "
                      "'<<<<<<< SEARCH' and nothing else",
                      number_ + 1, quoted(line)));
    }
    if (marker == kReplace) {
      return wrong_edit(
          fmt::format("behind search-and-replace block {} there is a line '>>>>>>> REPLACE' "
                      "without its '<<<<<<< SEARCH'",
                      number_));
    }
    answer_.rest += line;
    return {};
  }

  Status finish() {
    place_ = Place::outside;
    if (first_visible_line(edit_.search).empty()) {
      return wrong_edit(
          fmt::format("{} has nothing to search for; repeat a line of the code that was shown, "
                      "and give it again among the new lines",
                      block()));
    }
    if (is_same_text()) {
      return wrong_edit(fmt::format("{} replaces its lines by the same lines", block()));
    }
    answer_.edits.push_back(std::move(edit_));
    edit_ = {};
    return {};
  }

  [[nodiscard]] bool is_same_text() const {
    std::string_view search = edit_.search;
    std::string_view replace = edit_.replace;
    while (!search.empty() && !replace.empty()) {
      if (without_end(take_line(search)) != without_end(take_line(replace))) return false;
    }
    return search.empty() && replace.empty();
  }

  EditAnswer answer_;
  CodeEdit edit_;
  Place place_ = Place::outside;
  std::size_t number_ = 0;  // of the block that was begun last
};

}  // namespace

bool holds_edits(std::string_view text) {
  while (!text.empty()) {
    if (begins_like_search(take_line(text))) return true;
  }
  return false;
}

Result<EditAnswer> read_edits(std::string_view text) {
  return EditReader().read(text);
}

}  // namespace regraph::llm
