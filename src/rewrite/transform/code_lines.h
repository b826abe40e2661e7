// Code that is written line by line, for what the kernel IR has no form for: inline PTX, lambdas.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// Lines with a common indentation, those between open() and close() further in. Not thread-safe.
class CodeLines {
 public:
  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    add(fmt::format(format, std::forward<Values>(values)...));
  }
  // The same with a brace, and what follows is inside.
  template <typename... Values>
  void open(fmt::format_string<Values...> format, Values&&... values) {
    add(fmt::format(format, std::forward<Values>(values)...) + " {");
    ++depth_;
  }
  // A block without a statement in front.
  void open() {
    add("{");
    ++depth_;
  }
  void close(const char* end = "}");
  // Ends one block and begins the next: "} else {".
  void reopen(const char* between);
  // In front of a loop.
  void unroll() { add("#pragma unroll"); }
  void keep_rolled() { add("#pragma unroll 1"); }

  // Text as it is: a percent sign or a brace means itself.
  void add(const std::string& text);
  void add(const Block& block);

  // All lines as one statement, so that the kernel's own indentation comes in front of the first.
  [[nodiscard]] Block block() const;
  // The same behind declarations of names for the blocks' numbers and the grid's extents that the
  // lines ask for: who rewrites these finds them there, and not in text.
  [[nodiscard]] Block block(Names& names) const;

 private:
  [[nodiscard]] std::string text() const;

  std::vector<std::string> lines_;
  std::size_t depth_ = 1;
};

}  // namespace regraph::rewrite
