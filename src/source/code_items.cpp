#include "source/code_items.h"

#include "source/bracket_balance.h"
#include "source/macro_facts.h"
#include "source/top_level.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace regraph::source {
namespace {

// Scopes in each other; what goes through all of them must not take long.
constexpr std::size_t kDeepestScope = 16;

class ItemCutter {
 public:
  explicit ItemCutter(std::string_view text)
      : text_(text),
        tokens_(tokenize(text)),
        declarations_(split_top_level(text, tokens_)),
        declaring_macros_(declaring_macros(text, tokens_)) {
    for (const Token& token : tokens_) {
      if (token.kind == TokenKind::directive) macro_names_.insert(macro_named_by(token.in(text_)));
    }
  }

  std::optional<std::vector<CodeItem>> run() {
    if (!is_plain_text(text_, tokens_)) return std::nullopt;
    for (std::size_t at = 0; at < declarations_.size();) {
      const std::size_t last = end_of_item(at);
      if (last == at || !add(at, last)) return std::nullopt;
      at = last;
    }
    if (!open_.empty() || !macros_are_single()) return std::nullopt;
    for (CodeItem& item : items_) {
      for (std::vector<std::string_view>* names : {&item.names, &item.words}) {
        std::ranges::sort(*names);
        names->erase(std::unique(names->begin(), names->end()), names->end());
      }
    }
    return std::move(items_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(text_) : std::string_view();
  }

  // The declaration behind the item that begins at `at`; `at` itself where it does not end.
  [[nodiscard]] std::size_t end_of_item(std::size_t at) const {
    int depth = 0;
    for (std::size_t next = at; next < declarations_.size(); ++next) {
      if (declarations_[next].kind == DeclarationKind::directive) {
        const std::string_view name = directive_name(word(declarations_[next].first));
        if (name.starts_with("if")) ++depth;
        if (name.starts_with("el") && depth == 0) return at;
        if (name == "endif" && --depth < 0) return at;
      }
      if (depth == 0) return next + 1;
    }
    return at;
  }

  // Declarations [first, last) as one item; false where they are not understood.
  bool add(std::size_t first, std::size_t last) {
    const TopLevelDeclaration& begin = declarations_[first];
    CodeItem item;
    item.begin = tokens_[begin.first].begin;
    item.end = tokens_[declarations_[last - 1].last - 1].end;
    if (!open_.empty()) item.scope = open_.back();
    if (last == first + 1 && begin.kind == DeclarationKind::scope) return add_scope(item, begin);
    bool surrounds = false;
    bool remarks = true;
    int scopes = 0;
    for (std::size_t at = first; at < last; ++at) {
      const TopLevelDeclaration& declaration = declarations_[at];
      note_words(declaration, item);
      if (declaration.kind == DeclarationKind::scope) {
        scopes += word(declaration.first) == "}" ? -1 : 1;
        if (scopes < 0) return false;
        continue;
      }
      const bool is_directive = declaration.kind == DeclarationKind::directive;
      if (!is_directive && !is_understood(declaration)) return false;
      const CodeItem::Kind kind = kind_of(declaration);
      surrounds = surrounds || kind == CodeItem::Kind::surrounding;
      remarks = remarks && kind == CodeItem::Kind::remark;
    }
    if (scopes != 0) return false;
    item.kind = surrounds ? CodeItem::Kind::surrounding
                : remarks ? CodeItem::Kind::remark
                          : CodeItem::Kind::named;
    items_.push_back(std::move(item));
    return true;
  }

  bool add_scope(CodeItem& item, const TopLevelDeclaration& scope) {
    if (word(scope.first) == "}") {
      if (open_.empty()) return false;
      item.kind = CodeItem::Kind::scope_end;
      open_.pop_back();
    } else {
      item.kind = CodeItem::Kind::scope_begin;
      note_words(scope, item);
      if (open_.size() == kDeepestScope) return false;
      open_.push_back(items_.size());
    }
    items_.push_back(std::move(item));
    return true;
  }

  [[nodiscard]] CodeItem::Kind kind_of(const TopLevelDeclaration& declaration) const {
    if (declaration.kind == DeclarationKind::directive) {
      const std::string_view directive = word(declaration.first);
      const std::string_view name = directive_name(directive);
      const bool decides = name.starts_with("if") || name.starts_with("el") || name == "endif";
      if (decides) return CodeItem::Kind::remark;
      return macro_named_by(directive).empty() ? CodeItem::Kind::surrounding
                                               : CodeItem::Kind::named;
    }
    if (declaration.kind == DeclarationKind::other) return CodeItem::Kind::remark;
    // Operators are found by the types of their operands; what has no name cannot be asked for.
    const bool is_operator =
        std::ranges::find(declaration.names, "operator") != declaration.names.end();
    const bool is_named = !declaration.names.empty() && !is_operator &&
                          declaration.kind != DeclarationKind::using_directive;
    return is_named ? CodeItem::Kind::named : CodeItem::Kind::surrounding;
  }

  // Whether brackets and conditionals match, it ends as declarations do, and no macro that stands
  // outside of brackets may declare more.
  [[nodiscard]] bool is_understood(const TopLevelDeclaration& declaration) const {
    BracketBalance balance;
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      if (!balance.take(word(token), tokens_[token].kind)) return false;
      if (balance.at_top() && tokens_[token].kind == TokenKind::identifier &&
          declaring_macros_.contains(word(token)))
        return false;
    }
    const std::string_view last = word(declaration.last - 1);
    return balance.is_even() && (last == ";" || last == "}");
  }

  void note_words(const TopLevelDeclaration& declaration, CodeItem& item) {
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      const std::string_view text = word(token);
      if (tokens_[token].kind == TokenKind::identifier) item.words.push_back(text);
      if (tokens_[token].kind != TokenKind::directive) continue;
      const std::string_view rest = text.substr(1);
      for (const Token& inner : tokenize(rest)) {
        if (inner.kind == TokenKind::identifier) item.words.push_back(inner.in(rest));
      }
      const std::string_view macro = macro_named_by(text);
      if (macro.empty()) continue;
      item.names.push_back(macro);
      item.pastes = item.pastes || pastes_tokens(text);
      macros_.emplace_back(macro, items_.size());
    }
    note_names(declaration, item);
  }

  void note_names(const TopLevelDeclaration& declaration, CodeItem& item) const {
    const std::set<std::string_view> declared(declaration.names.begin(), declaration.names.end());
    const bool is_scope = declaration.kind == DeclarationKind::scope;
    std::vector<std::string_view> attributes;
    const std::size_t before = item.names.size();
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      if (tokens_[token].kind != TokenKind::identifier) continue;
      const std::string_view name = word(token);
      const bool is_keyword = name == "namespace" || name == "inline" || name == "extern";
      if (!declared.contains(name) && (!is_scope || is_keyword)) continue;
      // What stands for an attribute is not what is declared, unless there is nothing else.
      const bool is_attribute = is_attribute_word(name) || macro_names_.contains(name);
      (is_attribute ? attributes : item.names).push_back(name);
    }
    note_constructor(declaration, item);
    if (item.names.size() == before)
      item.names.insert(item.names.end(), attributes.begin(), attributes.end());
  }

  // "Point::Point(int a) : x(a) {}" is taken for a function called x.
  void note_constructor(const TopLevelDeclaration& declaration, CodeItem& item) const {
    if (declaration.kind != DeclarationKind::function || !declaration.body) return;
    std::size_t colon = declaration.first;
    while (colon < *declaration.body && word(colon) != ":")
      ++colon;
    for (std::size_t token = declaration.first; colon < *declaration.body && token < colon;
         ++token) {
      if (tokens_[token].kind == TokenKind::identifier && word(token + 1) == "::")
        item.names.push_back(word(token));
    }
  }

  static bool is_attribute_word(std::string_view name) {
    constexpr auto kNames = std::to_array<std::string_view>(
        {"__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__align__",
         "alignas", "__attribute__", "__declspec", "decltype", "noexcept", "requires"});
    return std::ranges::find(kNames, name) != kNames.end();
  }

  // Whether each macro is defined within one item.
  [[nodiscard]] bool macros_are_single() {
    std::ranges::sort(macros_);
    for (std::size_t next = 1; next < macros_.size(); ++next) {
      if (macros_[next].first == macros_[next - 1].first &&
          macros_[next].second != macros_[next - 1].second)
        return false;
    }
    return true;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<TopLevelDeclaration> declarations_;
  std::set<std::string_view> declaring_macros_;
  std::set<std::string_view> macro_names_;
  std::vector<CodeItem> items_;
  std::vector<std::size_t> open_;                                 // scope_begin items
  std::vector<std::pair<std::string_view, std::size_t>> macros_;  // by name, and the item
};

}  // namespace

std::optional<std::vector<CodeItem>> code_items(std::string_view text) {
  return ItemCutter(text).run();
}

std::string joined_tokens(std::string_view text) {
  std::string out;
  for (const Token& token : tokenize(text)) {
    const std::string_view word = token.in(text);
    if (token.kind != TokenKind::directive) {
      out += word;
      out += ' ';
      continue;
    }
    if (directive_name(word) == "line") continue;
    const std::string_view rest = word.substr(1);
    out += "# ";
    for (const Token& inner : tokenize(rest)) {
      out += inner.in(rest);
      out += ' ';
    }
    out += '\n';
  }
  return out;
}

}  // namespace regraph::source
