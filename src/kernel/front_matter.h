// A manifest inside the source: the first block comment, when it begins with "/*@regraph".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace regraph {

struct FrontMatter {
  std::string yaml;       // with as many newlines in front that its lines are those of the file
  int line = 1;           // of the comment
  std::size_t begin = 0;  // bytes of the comment in the source
  std::size_t end = 0;
};

// Returns nothing when the first block comment is another one, or there is none.
[[nodiscard]] std::optional<FrontMatter> find_front_matter(std::string_view source);

// Takes the comment out of `source` and leaves its newlines.
void blank_front_matter(const FrontMatter& front_matter, std::string& source);

}  // namespace regraph
