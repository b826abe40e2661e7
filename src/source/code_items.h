// Device code as pieces that can be left out or moved: top-level declarations, macros, and whole
// groups of conditional lines.
#pragma once

#include "source/lexer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// Bytes [begin, end) of the text; comments around it are not part of it. Views into the text.
struct CodeItem {
  enum class Kind : std::uint8_t {
    named,        // declarations, macros, groups of conditionals: wanted where a name is mentioned
    surrounding,  // #include, #pragma, using namespace, operators: works without being mentioned
    remark,       // static_assert, an explicit instantiation, a semicolon: declares nothing
    scope_begin,  // "namespace x {", "extern "C" {"
    scope_end,
  };
  Kind kind = Kind::named;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::size_t> scope;     // the scope_begin around it, or of a scope_end its own
  std::vector<std::string_view> names;  // what it declares, a superset; of scopes their name
  std::vector<std::string_view> words;  // all identifiers in it, preprocessor lines included
  bool pastes = false;                  // defines a macro with ##: what it mentions is not known
};

// Returns the items of `text` in order; between them stand blanks and comments alone. Linear.
// Nothing where the text cannot be taken apart safely: brackets, literals, comments or conditionals
// that do not match, a conditional that ends within a declaration or scope that it does not begin
// in, scopes nested deeper than 16, a macro that is defined in several places, or one that makes
// declarations and is used so.
[[nodiscard]] std::optional<std::vector<CodeItem>> code_items(std::string_view text);

// The tokens of `text` with one blank between each; preprocessor lines are taken apart too and end
// in
// "\n", and #line is left out. Equal for texts that differ in blanks and comments alone.
[[nodiscard]] std::string joined_tokens(std::string_view text);

}  // namespace regraph::source
