#include "source/reachable.h"

#include <algorithm>
#include <map>
#include <set>

namespace regraph::source {
namespace {

class Reachability {
 public:
  explicit Reachability(const SplitFile& file) : file_(file) {}

  std::vector<bool> run(const std::vector<std::string>& kernels,
                        const std::vector<std::string_view>& roots) {
    index_declarations(kernels);
    index_macros();
    for (const std::string_view root : roots)
      mention(root);
    mention("operator");
    mention_conditions();
    follow();
    return std::move(keep_);
  }

 private:
  void mention(std::string_view name) {
    if (seen_.insert(name).second) open_.push_back(name);
  }

  // What is kept in any case, and the others by name.
  void index_declarations(const std::vector<std::string>& kernels) {
    keep_.assign(file_.declarations.size(), false);
    for (std::size_t i = 0; i < file_.declarations.size(); ++i) {
      const TopLevelDeclaration& declaration = file_.declarations[i];
      if (file_.host[i]) continue;
      keep_[i] = declaration.kind == DeclarationKind::scope ||
                 declaration.kind == DeclarationKind::directive ||
                 declaration.kind == DeclarationKind::using_directive;
      if (declaration.kind == DeclarationKind::other) continue;
      for (const std::string& name : declaration.names) {
        const bool unwanted_kernel =
            declaration.is_global && std::ranges::find(kernels, name) == kernels.end();
        if (!unwanted_kernel) by_name_[name].push_back(i);
      }
    }
  }

  void index_macros() {
    for (std::size_t i = 0; i < file_.declarations.size(); ++i) {
      const TopLevelDeclaration& declaration = file_.declarations[i];
      if (declaration.kind != DeclarationKind::directive) continue;
      const std::string_view macro = macro_of(file_.tokens[declaration.first].in(file_.text));
      if (macro.empty()) continue;
      keep_[i] = false;
      by_name_[macro].push_back(i);
    }
    for (const Token& token : file_.tokens) {
      if (token.kind != TokenKind::directive) continue;
      const std::string_view directive = token.in(file_.text);
      const std::string_view macro = macro_of(directive);
      if (macro.empty()) continue;
      const std::string_view rest = definition_of(directive);
      for (const Token& inner : tokenize(rest)) {
        const std::string_view word = inner.in(rest);
        if (inner.kind == TokenKind::identifier && word.data() != macro.data())
          words_[macro].push_back(word);
      }
    }
  }

  // What decides a conditional counts as used.
  void mention_conditions() {
    for (const Token& token : file_.tokens) {
      if (token.kind != TokenKind::directive) continue;
      const std::string_view directive = token.in(file_.text);
      const std::string_view name = directive_name(directive);
      if (!name.starts_with("if") && !name.starts_with("elif") && name != "undef") continue;
      const std::string_view condition = directive.substr(1);
      for (const Token& inner : tokenize(condition))
        mention(inner.in(condition));
    }
  }

  void follow() {
    while (!open_.empty()) {
      const std::string_view name = open_.back();
      open_.pop_back();
      for (const std::string_view inner : words_[name])
        mention(inner);
      for (const std::size_t i : by_name_[name]) {
        const TopLevelDeclaration& declaration = file_.declarations[i];
        // Operators are found by their operands' types, not by a name: only device ones can matter.
        if (keep_[i] || (name == "operator" && !declaration.is_device)) continue;
        keep_[i] = true;
        for (std::size_t token = declaration.first; token < declaration.last; ++token) {
          if (file_.tokens[token].kind == TokenKind::identifier)
            mention(file_.tokens[token].in(file_.text));
        }
      }
    }
  }

  // What stands behind "#define"; empty for other directives.
  static std::string_view definition_of(std::string_view directive) {
    if (directive_name(directive) != "define") return {};
    return directive.substr(directive.find("define") + 6);
  }
  static std::string_view macro_of(std::string_view directive) {
    const std::string_view rest = definition_of(directive);
    const std::vector<Token> words = tokenize(rest);
    return words.empty() ? std::string_view() : words.front().in(rest);
  }

  const SplitFile& file_;
  std::vector<bool> keep_;
  std::map<std::string_view, std::vector<std::size_t>> by_name_;
  std::map<std::string_view, std::vector<std::string_view>> words_;  // of macros' replacements
  std::vector<std::string_view> open_;                               // mentioned, not yet followed
  std::set<std::string_view> seen_;
};

}  // namespace

std::vector<bool> reachable_declarations(const SplitFile& file,
                                         const std::vector<std::string>& kernels,
                                         const std::vector<std::string_view>& roots) {
  return Reachability(file).run(kernels, roots);
}

}  // namespace regraph::source
