#include "source/file_scope_shared.h"

#include "source/host_code.h"

#include <algorithm>
#include <set>

namespace regraph::source {
namespace {

using Names = std::set<std::string_view>;

class SharedMover {
 public:
  SharedMover(std::string_view text, const std::vector<Token>& tokens,
              const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
              const std::vector<const TopLevelDeclaration*>& kernels,
              const std::vector<std::string>& namespaces)
      : text_(text),
        tokens_(tokens),
        declarations_(declarations),
        kept_(kept),
        kernels_(kernels),
        namespaces_(namespaces) {}

  OwnSharedMemory run() {
    result_.moved.assign(declarations_.size(), false);
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& declaration = declarations_[i];
      if (kept_[i] && declaration.is_shared && declaration.kind == DeclarationKind::variable)
        move(i);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const { return tokens_[token].in(text_); }

  void move(std::size_t which) {
    const TopLevelDeclaration& shared = declarations_[which];
    const Names names = with_macros_of(text_, tokens_, {shared.names.begin(), shared.names.end()});
    std::vector<const TopLevelDeclaration*> users;
    bool has_others = false;
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& other = declarations_[i];
      if (i == which || !kept_[i] || other.kind == DeclarationKind::directive) continue;
      if (!uses(other, names)) continue;
      const bool is_kernel = std::ranges::find(kernels_, &other) != kernels_.end();
      if (is_kernel && takes(which, i)) {
        users.push_back(&other);
      } else {
        has_others = true;
      }
    }
    // Of memory whose length the launch says there is one, however often it is declared.
    if (has_others && !shared.is_extern) return;
    for (const TopLevelDeclaration* user : users)
      result_.texts[user] += " " + declaration_text(shared);
    result_.moved[which] = !has_others && !users.empty();
  }

  // Whether the kernel can have the declaration in its body.
  [[nodiscard]] bool takes(std::size_t shared, std::size_t kernel) const {
    return namespaces_[kernel].starts_with(namespaces_[shared]) &&
           conditions_at(declarations_[shared].first) ==
               conditions_at(declarations_[kernel].first) &&
           !holds_directive(declarations_[shared]) &&
           !is_named_elsewhere(declarations_[kernel], declarations_[shared].names);
  }

  // The branches of conditionals that a token stands in.
  [[nodiscard]] std::vector<std::size_t> conditions_at(std::size_t token) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < token; ++i) {
      if (tokens_[i].kind != TokenKind::directive) continue;
      const std::string_view name = directive_name(word(i));
      if (name.starts_with("if")) {
        open.push_back(i);
      } else if (!open.empty() && name.starts_with("el")) {
        open.back() = i;
      } else if (!open.empty() && name == "endif") {
        open.pop_back();
      }
    }
    return open;
  }

  [[nodiscard]] bool holds_directive(const TopLevelDeclaration& declaration) const {
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(declaration.first),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(declaration.last),
                       [](const Token& token) { return token.kind == TokenKind::directive; });
  }

  // Whether one of the names stands in it, unless it is a parameter's.
  [[nodiscard]] bool uses(const TopLevelDeclaration& declaration, const Names& names) const {
    const std::size_t list = declaration.parameters.value_or(declaration.last);
    const std::size_t after = declaration.parameters ? after_bracket(text_, tokens_, list) : list;
    Names open = names;
    for (std::size_t token = list; token < after; ++token)
      open.erase(word(token));
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      const bool is_member = token > 0 && (word(token - 1) == "." || word(token - 1) == "->");
      if (!is_member && open.contains(word(token))) return true;
    }
    return false;
  }

  // Whether a name is written with its namespace, or declared in the kernel: behind a type.
  [[nodiscard]] bool is_named_elsewhere(const TopLevelDeclaration& kernel,
                                        const std::vector<std::string>& names) const {
    for (std::size_t token = kernel.first + 1; token < kernel.last; ++token) {
      if (std::ranges::find(names, word(token)) == names.end()) continue;
      const std::string_view before = word(token - 1);
      constexpr std::string_view kNoTypes[] = {"return", "else", "do", "case", "sizeof"};
      const bool follows_type = tokens_[token - 1].kind == TokenKind::identifier &&
                                std::ranges::find(kNoTypes, before) == std::end(kNoTypes);
      if (before == "::" || follows_type) return true;
    }
    return false;
  }

  // In one line, and without what a function's own may not say.
  [[nodiscard]] std::string declaration_text(const TopLevelDeclaration& declaration) const {
    std::string result;
    for (std::size_t token = declaration.first; token < declaration.last; ++token) {
      const std::string_view text = word(token);
      if (text == "static" || text == "inline" || text == "__device__") continue;
      const bool is_apart =
          token > declaration.first && tokens_[token].begin > tokens_[token - 1].end;
      if (is_apart && !result.empty()) result += ' ';
      result += text;
    }
    return result;
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<TopLevelDeclaration>& declarations_;
  const std::vector<bool>& kept_;
  const std::vector<const TopLevelDeclaration*>& kernels_;
  const std::vector<std::string>& namespaces_;
  OwnSharedMemory result_;
};

}  // namespace

OwnSharedMemory own_shared_memory(std::string_view text, const std::vector<Token>& tokens,
                                  const std::vector<TopLevelDeclaration>& declarations,
                                  const std::vector<bool>& kept,
                                  const std::vector<const TopLevelDeclaration*>& kernels,
                                  const std::vector<std::string>& namespaces) {
  return SharedMover(text, tokens, declarations, kept, kernels, namespaces).run();
}

}  // namespace regraph::source
