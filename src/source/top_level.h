// Splits a file's tokens into its top-level declarations, by brackets and keywords alone.
#pragma once

#include "source/lexer.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

enum class DeclarationKind : std::uint8_t {
  function,         // with or without a body
  type,             // struct, class, union, enum
  alias,            // typedef, using name = ..., namespace name = ...
  using_directive,  // using namespace ...
  variable,
  scope,      // "namespace x {", "extern "C" {" or the brace that closes it
  directive,  // a preprocessor line between declarations
  other,      // static_assert, stray semicolons, what could not be told
};

// Tokens [first, last) of the file.
struct TopLevelDeclaration {
  DeclarationKind kind = DeclarationKind::other;
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<std::string> names;              // declared here; of enumerations the enumerators too
  std::optional<std::size_t> parameters;       // functions: token of the opening parenthesis
  std::optional<std::size_t> body;             // functions: token of the opening brace
  std::optional<std::size_t> template_closer;  // templates: token of the first list's ">"
  bool is_global = false;                      // __global__
  bool is_device = false;                      // __device__
  bool is_host = false;                        // __host__
  bool is_constant_memory = false;             // __constant__ or __managed__
  bool is_shared = false;                      // __shared__
  bool is_constant = false;                    // const or constexpr
  bool is_constexpr = false;
  bool is_extern = false;

  [[nodiscard]] bool is_kernel() const {
    return kind == DeclarationKind::function && is_global && body.has_value();
  }
};

// Returns the declarations in order; together they cover all tokens. Namespaces and linkage
// blocks are opened up: what they hold stands between two `scope` declarations.
[[nodiscard]] std::vector<TopLevelDeclaration> split_top_level(std::string_view text,
                                                               const std::vector<Token>& tokens);

// The members of a class that `split_top_level` found, split the same way; an access specifier
// belongs to the member behind it. Empty for a type without a body.
[[nodiscard]] std::vector<TopLevelDeclaration> split_members(std::string_view text,
                                                             const std::vector<Token>& tokens,
                                                             const TopLevelDeclaration& type);

// The token after the bracket that closes the one at `open`, or `tokens.size()`. Brackets of
// alternative preprocessor branches count once.
[[nodiscard]] std::size_t after_bracket(std::string_view text, const std::vector<Token>& tokens,
                                        std::size_t open);
// The token after the ">" that closes the "<" at `open`, or `tokens.size()` when none does.
[[nodiscard]] std::size_t after_angle(std::string_view text, const std::vector<Token>& tokens,
                                      std::size_t open);

// Macros without arguments, by name: their replacement. Of several definitions the first counts.
// Views into `text`.
using ObjectMacros = std::map<std::string_view, std::string_view>;
[[nodiscard]] ObjectMacros object_macros(std::string_view text, const std::vector<Token>& tokens);

// First word of a directive without "#": "define", "include", ...; empty for a lone "#".
[[nodiscard]] std::string_view directive_name(std::string_view directive);

}  // namespace regraph::source
