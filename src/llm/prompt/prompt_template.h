// Text with named placeholders.
//
//   {{candidate.time}}                     the value
//   {{#counters}} ... {{/counters}}        kept when the value is not empty
//   {{^counters}} ... {{/counters}}        kept when it is
//
// A line that holds nothing but section tags disappears with its newline. There is no other syntax:
// single braces are text, values are put in as they are and never read again.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

// Values by placeholder; an absent one is empty.
using PromptValues = std::map<std::string, std::string, std::less<>>;

// Immutable once parsed; rendering is safe from several threads at once.
class PromptTemplate {
 public:
  // Reads `text`, whose first line is line `first_line` of the file `file`. Only placeholders among
  // `known` may occur. Every error is "file:line: what is wrong" (ErrorCode::parse): an unknown
  // placeholder, a tag that is not closed, sections that do not nest, more than 8 of them in
  // each other.
  [[nodiscard]] static Result<PromptTemplate> parse(std::string_view text, std::string_view file,
                                                    int first_line,
                                                    std::span<const std::string_view> known);

  // Returns the text with the values put in. Equal values give equal bytes.
  [[nodiscard]] std::string render(const PromptValues& values) const;

  // Whether a value of that name is put in somewhere (sections do not count).
  [[nodiscard]] bool uses(std::string_view name) const;

 private:
  enum class PartKind : std::uint8_t { text, value, section, inverted_section, end };
  struct Part {
    PartKind kind = PartKind::text;
    std::string text;         // of the text, or the placeholder's name
    std::size_t partner = 0;  // sections: the place of their end
  };
  friend class TemplateReader;

  std::vector<Part> parts_;
};

}  // namespace regraph::llm
