#include "handback/launch_sites.h"

#include "kernel/scalar_type.h"
#include "source/top_level.h"

#include <algorithm>
#include <array>

namespace regraph::handback {
namespace {

using source::DeclarationKind;
using source::Token;
using source::TokenKind;
using source::TopLevelDeclaration;

class UseFinder {
 public:
  UseFinder(std::string_view text, const KernelSignature& kernel)
      : text_(text),
        kernel_(kernel),
        name_(source::unqualified_name(kernel.name)),
        tokens_(source::tokenize(text)),
        declarations_(source::split_top_level(text, tokens_)) {}

  KernelUses run() {
    read_macros();
    for (const TopLevelDeclaration& declaration : declarations_) {
      const bool own =
          declaration.is_global && !declaration.names.empty() && declaration.names.front() == name_;
      if (!own && declaration.kind != DeclarationKind::directive) read_declaration(declaration);
    }
    return std::move(uses_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(text_) : std::string_view();
  }

  // A macro's body is one token of the file.
  void read_macros() {
    for (const Token& token : tokens_) {
      if (token.kind != TokenKind::directive) continue;
      const std::string_view directive = token.in(text_);
      if (source::directive_name(directive) != "define") continue;
      const std::string_view body = directive.substr(1);
      const auto words = source::tokenize(body);
      const bool named =
          std::ranges::any_of(words, [&](const Token& inner) { return inner.in(body) == name_; });
      if (named) uses_.macro_lines.push_back(static_cast<int>(token.line));
    }
  }

  void read_declaration(const TopLevelDeclaration& declaration) {
    std::vector<std::size_t> launches;
    for (std::size_t at = declaration.first; at < declaration.last; ++at) {
      if (word(at) != name_ || tokens_[at].kind != TokenKind::identifier) continue;
      std::size_t after = at + 1;
      if (word(after) == "<") after = source::after_angle(text_, tokens_, after);
      if (word(after) == "<<<") {
        launches.push_back(at);
      } else if (is_value(at, after)) {
        uses_.mentioned_lines.push_back(static_cast<int>(tokens_[at].line));
      }
    }
    if (launches.empty()) return;
    const auto read = source::find_host_launches(seen_from(declaration), kernel_);
    for (const std::size_t at : launches)
      read_site(at, read);
  }

  // Whether the name stands where its address is taken; a call of it is another function's.
  [[nodiscard]] bool is_value(std::size_t at, std::size_t after) const {
    constexpr std::array<std::string_view, 4> kFollowers = {",", ")", ";", "}"};
    constexpr std::array<std::string_view, 2> kMembers = {".", "->"};
    if (at == 0 || std::ranges::find(kMembers, word(at - 1)) != kMembers.end()) return false;
    if (std::ranges::find(kFollowers, word(after)) == kFollowers.end()) return false;
    const bool declared = tokens_[at - 1].kind == TokenKind::identifier && word(at - 1) != "return";
    return !declared && !is_asked_about(at);
  }

  // cudaFuncSetAttribute(kernel, ...) and occupancy queries launch nothing.
  [[nodiscard]] bool is_asked_about(std::size_t at) const {
    int depth = 0;
    for (std::size_t back = at; back-- > 0;) {
      if (word(back) == ")") ++depth;
      if (word(back) == ";" || word(back) == "{" || word(back) == "}") return false;
      if (word(back) != "(" || --depth >= 0 || back == 0) continue;
      const std::string_view function = word(back - 1);
      if (function.starts_with("cudaFunc") || function.starts_with("cudaOccupancy")) return true;
    }
    return false;
  }

  // The file with the insides of all other functions, and all parameters, blanked.
  [[nodiscard]] std::string seen_from(const TopLevelDeclaration& own) const {
    std::string seen(text_);
    const auto blank = [&](std::size_t first, std::size_t last) {
      for (std::size_t byte = tokens_[first].end; byte < tokens_[last].begin; ++byte)
        if (seen[byte] != '\n') seen[byte] = ' ';
    };
    for (const TopLevelDeclaration& declaration : declarations_) {
      if (declaration.kind != DeclarationKind::function) continue;
      if (declaration.parameters) {
        const std::size_t after = source::after_bracket(text_, tokens_, *declaration.parameters);
        blank(*declaration.parameters, std::max(after - 1, *declaration.parameters));
      }
      if (declaration.body && declaration.first != own.first)
        blank(*declaration.body, std::max(declaration.last - 1, *declaration.body));
    }
    return seen;
  }

  void read_site(std::size_t name, const std::vector<source::HostLaunch>& launches) {
    std::size_t open = name + 1;
    LaunchSite site;
    if (word(open) == "<") {
      const std::size_t after = source::after_angle(text_, tokens_, open);
      site.instance = slice(open + 1, after - 1);
      open = after;
    }
    std::size_t close = open + 1;
    while (close < tokens_.size() && word(close) != ">>>")
      ++close;
    if (close >= tokens_.size()) return;
    site.line = static_cast<int>(tokens_[name].line);
    site.begin = tokens_[open].end;
    site.end = tokens_[close].begin;
    site.shape = parts(open + 1, close);
    if (word(close + 1) == "(")
      site.arguments = parts(close + 2, source::after_bracket(text_, tokens_, close + 1) - 1);
    const auto read =
        std::ranges::find(launches, std::size_t{tokens_[open].begin}, &source::HostLaunch::begin);
    if (read != launches.end()) site.read = *read;
    uses_.sites.push_back(std::move(site));
  }

  [[nodiscard]] std::string slice(std::size_t first, std::size_t last) const {
    if (first >= last) return {};
    return std::string(
        text_.substr(tokens_[first].begin, tokens_[last - 1].end - tokens_[first].begin));
  }

  [[nodiscard]] std::vector<std::string> parts(std::size_t first, std::size_t last) const {
    std::vector<std::string> found;
    std::size_t begin = first;
    for (std::size_t at = first; at < last; ++at) {
      if (word(at) == "(" || word(at) == "{" || word(at) == "[") {
        at = source::after_bracket(text_, tokens_, at) - 1;
      } else if (word(at) == ",") {
        found.push_back(slice(begin, at));
        begin = at + 1;
      }
    }
    if (begin < last) found.push_back(slice(begin, last));
    return found;
  }

  std::string_view text_;
  const KernelSignature& kernel_;
  const std::string name_;
  std::vector<Token> tokens_;
  std::vector<TopLevelDeclaration> declarations_;
  KernelUses uses_;
};

bool is_pure_call(std::string_view name) {
  constexpr std::array<std::string_view, 5> kCalls = {"size", "max", "min", "sizeof", "dim3"};
  return std::ranges::find(kCalls, name) != kCalls.end() ||
         scalar_type_from_cuda_name(name).has_value();
}

}  // namespace

KernelUses find_kernel_uses(std::string_view text, const KernelSignature& kernel) {
  return UseFinder(text, kernel).run();
}

bool is_pure(std::string_view expression) {
  const auto words = source::tokenize(expression);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at].in(expression);
    const std::string_view next =
        at + 1 < words.size() ? words[at + 1].in(expression) : std::string_view();
    const bool twice = (word == "+" || word == "-") && next == word;
    const bool assigns = word == "=" || word == ";" || word == "{";
    const bool calls =
        next == "(" && words[at].kind == TokenKind::identifier && !is_pure_call(word);
    if (twice || assigns || calls || words[at].kind == TokenKind::directive) return false;
  }
  return !words.empty();
}

}  // namespace regraph::handback
