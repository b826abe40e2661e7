// Types of variables and simple expressions, as the text near them says: enough to find out with
// which type a template is launched, without a parse.
#pragma once

#include "source/top_level.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// "const float* const*" is {"float", 2}; arrays count as pointers. No qualifiers, no references.
struct DeclaredType {
  std::string name;
  int pointers = 0;

  [[nodiscard]] std::string text() const {
    return name + std::string(static_cast<std::size_t>(pointers), '*');
  }
  bool operator==(const DeclaredType&) const = default;
};

// Looks names up where a call stands.
class TypesAt {
 public:
  // What a name means at token `at`: its last declaration in the function `inside` before it (null:
  // no function), else one of the file. All arguments must outlive this.
  TypesAt(std::string_view text, const std::vector<Token>& tokens,
          const std::vector<TopLevelDeclaration>& declarations, const TopLevelDeclaration* inside,
          std::size_t at);

  // Of the expression in tokens [first, last): a variable, an element, an address, a cast, a
  // literal, a sum, a container's data(), an object of a class of the file. Nothing for what else
  // there is.
  [[nodiscard]] std::optional<DeclaredType> of_expression(std::size_t first,
                                                          std::size_t last) const;

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const;
  [[nodiscard]] std::optional<DeclaredType> of_variable(std::string_view name) const;
  [[nodiscard]] std::optional<DeclaredType> declared_in(std::string_view name, std::size_t first,
                                                        std::size_t last) const;
  [[nodiscard]] std::optional<DeclaredType> declared_at(std::size_t name, std::size_t first) const;
  [[nodiscard]] std::optional<DeclaredType> of_container(std::size_t first, std::size_t last) const;
  [[nodiscard]] bool is_class(std::string_view name) const;

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<TopLevelDeclaration>& declarations_;
  const TopLevelDeclaration* inside_;
  std::size_t at_;
};

// The type that tokens [first, last) say, with stars and without a name; nothing when they are no
// type.
[[nodiscard]] std::optional<DeclaredType> type_in(std::string_view text,
                                                  const std::vector<Token>& tokens,
                                                  std::size_t first, std::size_t last);

}  // namespace regraph::source
