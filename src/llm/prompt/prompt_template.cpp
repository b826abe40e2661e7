#include "llm/prompt/prompt_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::llm {

namespace {

constexpr std::size_t kMostNesting = 8;
constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

// Reads a template line by line; sections may span lines, tags may not.
class TemplateReader {
 public:
  TemplateReader(std::string_view file, int first_line, std::span<const std::string_view> known)
      : file_(file), line_(first_line), known_(known) {}

  Result<PromptTemplate> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
      if (Status status = read_line(text.substr(0, length)); !status) return status.error();
      text.remove_prefix(length);
      ++line_;
    }
    if (!open_.empty()) {
      const auto& [place, line] = open_.back();
      return error(fmt::format("section '{}' is never closed", result_.parts_[place].text), line);
    }
    return std::move(result_);
  }

 private:
  using Kind = PromptTemplate::PartKind;

  [[nodiscard]] Error error(const std::string& what, std::optional<int> line = {}) const {
    return fail(ErrorCode::parse, fmt::format("{}:{}: {}", file_, line.value_or(line_), what));
  }

  Status read_line(std::string_view line) {
    const std::size_t before = result_.parts_.size();
    std::string_view rest = line;
    bool only_sections = true;
    bool any_section = false;
    while (true) {
      const std::size_t open = rest.find("{{");
      const std::string_view text = rest.substr(0, open);
      if (text.find_first_not_of(" \t\n") != std::string_view::npos) only_sections = false;
      add(Kind::text, std::string(text));
      if (open == std::string_view::npos) break;
      const std::size_t close = rest.find("}}", open);
      if (close == std::string_view::npos) return error("'{{' is not closed on its line");
      const std::string_view tag = trimmed(rest.substr(open + 2, close - open - 2));
      const bool is_section = !tag.empty() && std::string_view("#^/").find(tag[0]) < 3;
      if (is_section) any_section = true;
      if (!is_section) only_sections = false;
      if (Status status = read_tag(tag); !status) return status;
      rest.remove_prefix(close + 2);
    }
    if (any_section && only_sections) {
      for (std::size_t place = before; place < result_.parts_.size(); ++place) {
        if (result_.parts_[place].kind == Kind::text) result_.parts_[place].text.clear();
      }
    }
    return {};
  }

  Status read_tag(std::string_view tag) {
    Kind kind = Kind::value;
    if (!tag.empty()) {
      if (tag[0] == '#') kind = Kind::section;
      if (tag[0] == '^') kind = Kind::inverted_section;
      if (tag[0] == '/') kind = Kind::end;
    }
    const std::string name(trimmed(kind == Kind::value ? tag : tag.substr(1)));
    if (std::ranges::find(known_, name) == known_.end()) {
      return error(
          fmt::format("unknown placeholder '{}' (known: {})", name, fmt::join(known_, ", ")));
    }
    if (kind == Kind::end) {
      if (open_.empty()) return error(fmt::format("section '{}' was never opened", name));
      PromptTemplate::Part& opening = result_.parts_[open_.back().first];
      if (opening.text != name) {
        return error(fmt::format("section '{}' is closed where '{}' is open since line {}", name,
                                 opening.text, open_.back().second));
      }
      opening.partner = result_.parts_.size();
      open_.pop_back();
    } else if (kind != Kind::value) {
      if (open_.size() == kMostNesting) {
        return error(fmt::format("more than {} sections in each other", kMostNesting));
      }
      open_.emplace_back(result_.parts_.size(), line_);
    }
    add(kind, name);
    return {};
  }

  void add(Kind kind, std::string text) {
    result_.parts_.push_back({.kind = kind, .text = std::move(text), .partner = 0});
  }

  std::string_view file_;
  int line_;
  std::span<const std::string_view> known_;
  PromptTemplate result_;
  std::vector<std::pair<std::size_t, int>> open_;  // sections: place and line
};

Result<PromptTemplate> PromptTemplate::parse(std::string_view text, std::string_view file,
                                             int first_line,
                                             std::span<const std::string_view> known) {
  return TemplateReader(file, first_line, known).read(text);
}

std::string PromptTemplate::render(const PromptValues& values) const {
  std::string out;
  for (std::size_t place = 0; place < parts_.size(); ++place) {
    const Part& part = parts_[place];
    if (part.kind == PartKind::text) {
      out += part.text;
      continue;
    }
    if (part.kind == PartKind::end) continue;
    const auto value = values.find(part.text);
    const bool empty = value == values.end() || value->second.empty();
    if (part.kind == PartKind::value) {
      if (!empty) out += value->second;
    } else if (empty == (part.kind == PartKind::section)) {
      place = part.partner;
    }
  }
  return out;
}

bool PromptTemplate::uses(std::string_view name) const {
  return std::ranges::any_of(
      parts_, [&](const Part& part) { return part.kind == PartKind::value && part.text == name; });
}

}  // namespace regraph::llm
