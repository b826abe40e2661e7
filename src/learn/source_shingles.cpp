#include "learn/source_shingles.h"

#include "base/hash.h"
#include "source/lexer.h"
#include "source/reserved_names.h"
#include "source/top_level.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string>

namespace regraph::learn {

namespace {

using source::Token;
using source::TokenKind;

constexpr std::size_t kTokensOfShingle = 5;
// Macros that mention each other end here, and so do those that double what they are given.
constexpr int kDeepestMacro = 8;
constexpr std::size_t kMostTokens = 1'000'000;
// A name that was used longer ago is new again: keeps hostile texts from taking long.
constexpr std::size_t kRememberedNames = 256;

constexpr std::string_view kLeftOut[] = {
    "{",         "}",      "const",           "constexpr",  "volatile",     "static",
    "inline",    "extern", "__forceinline__", "__inline__", "__noinline__", "__restrict__",
    "__restrict"};

bool is_component(std::string_view name) {
  return name.size() == 1 && std::string_view("xyzw").find(name[0]) != std::string_view::npos;
}

bool is_floating(std::string_view number) {
  if (number.find('.') != std::string_view::npos) return true;
  const bool hexadecimal = number.starts_with("0x") || number.starts_with("0X");
  return number.find_first_of(hexadecimal ? "pP" : "eE") != std::string_view::npos;
}

class Canonical {
 public:
  explicit Canonical(std::string_view text)
      : text_(text),
        tokens_(source::tokenize(text)),
        macros_(source::object_macros(text, tokens_)) {}

  Shingles run() {
    const std::vector<source::TopLevelDeclaration> declarations =
        source::split_top_level(text_, tokens_);
    for (const source::TopLevelDeclaration& declaration : declarations)
      own_.insert(declaration.names.begin(), declaration.names.end());
    for (const Token& token : tokens_) {
      if (token.kind == TokenKind::directive) take_macro(token.in(text_));
    }
    const std::span<const Token> all(tokens_);
    bool any_device = false;
    for (const source::TopLevelDeclaration& declaration : declarations) {
      const auto part = [&](std::size_t first, std::size_t last) {
        take(text_, all.subspan(first, last - first));
      };
      if (declaration.kind == source::DeclarationKind::type) {
        part(declaration.first, declaration.last);  // may be a functor
      } else if (declaration.body && (declaration.is_global || declaration.is_device)) {
        any_device = true;
        part(declaration.first, *declaration.body);
        part(*declaration.body, declaration.last);
      }
    }
    // Where macros hide what is a kernel, everything is compared.
    if (!any_device) take(text_, all);
    std::ranges::sort(shingles_);
    shingles_.erase(std::unique(shingles_.begin(), shingles_.end()), shingles_.end());
    return std::move(shingles_);
  }

 private:
  // "#define NAME(parameters) body": the body may hold all of a kernel.
  void take_macro(std::string_view directive) {
    if (source::directive_name(directive) != "define") return;
    const std::string_view rest = directive.substr(directive.find("define") + 6);
    const std::vector<Token> words = source::tokenize(rest);
    if (words.size() < 2 || macros_.contains(words[0].in(rest))) return;
    own_.emplace(words[0].in(rest));
    take(rest, std::span<const Token>(words).subspan(1));
  }

  // The shingles of tokens that stand together.
  void take(std::string_view text, std::span<const Token> tokens) {
    recent_.clear();
    canonical_.clear();
    append(text, tokens, kDeepestMacro);
    for (std::size_t at = 0; at + kTokensOfShingle <= canonical_.size(); ++at) {
      Hasher hasher;
      for (std::size_t next = at; next < at + kTokensOfShingle; ++next)
        hasher.add(canonical_[next]);
      shingles_.push_back(hasher.finish().low);
    }
  }

  void append(std::string_view text, std::span<const Token> tokens, int deeper) {
    for (std::size_t at = 0; at < tokens.size() && canonical_.size() < kMostTokens; ++at) {
      const std::string_view token = tokens[at].in(text);
      const bool follows_dot =
          at > 0 && (tokens[at - 1].in(text) == "." || tokens[at - 1].in(text) == "->");
      const bool called = at + 1 < tokens.size() && tokens[at + 1].in(text) == "(";
      switch (tokens[at].kind) {
        case TokenKind::directive:
          break;
        case TokenKind::number:
          canonical_.emplace_back(is_floating(token) ? "1.0" : "1");
          break;
        case TokenKind::text:
          canonical_.emplace_back("\"\"");
          break;
        case TokenKind::punctuation:
          if (std::ranges::find(kLeftOut, token) == std::end(kLeftOut))
            canonical_.emplace_back(token);
          break;
        case TokenKind::identifier:
          if (const auto macro = macros_.find(token); macro != macros_.end() && deeper > 0) {
            append(macro->second, source::tokenize(macro->second), deeper - 1);
          } else if (std::ranges::find(kLeftOut, token) == std::end(kLeftOut)) {
            const bool kept = source::is_reserved_name(token) ||
                              (follows_dot && is_component(token)) ||
                              (called && !own_.contains(token));
            canonical_.push_back(kept ? std::string(token) : name(token));
          }
          break;
      }
    }
  }

  // How many names were used since this one was, as a word that no source has.
  std::string name(std::string_view token) {
    const auto known = std::ranges::find(recent_, token);
    const auto since = known == recent_.end() ? -1 : recent_.end() - known - 1;
    if (known != recent_.end()) {
      recent_.erase(known);
    } else if (recent_.size() == kRememberedNames) {
      recent_.erase(recent_.begin());
    }
    recent_.push_back(token);
    return "$" + std::to_string(since);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  source::ObjectMacros macros_;
  std::set<std::string, std::less<>> own_;  // functions and macros of the file
  std::vector<std::string_view> recent_;    // names, the one used last at the end
  std::vector<std::string> canonical_;
  Shingles shingles_;
};

}  // namespace

Shingles source_shingles(std::string_view source) {
  return Canonical(source).run();
}

double similarity(const Shingles& one, const Shingles& other) {
  Shingles both;
  std::ranges::set_intersection(one, other, std::back_inserter(both));
  const std::size_t either = one.size() + other.size() - both.size();
  return either == 0 ? 0.0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

}  // namespace regraph::learn
