#include "source/host_functions.h"

#include "kernel/problem.h"
#include "source/macro_facts.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

std::string join(std::string_view text, const std::vector<Token>& tokens, std::size_t first,
                 std::size_t last) {
  std::string joined;
  for (std::size_t at = first; at < last && at < tokens.size(); ++at) {
    if (tokens[at].kind == TokenKind::directive) continue;
    joined += (joined.empty() ? "" : " ") + std::string(tokens[at].in(text));
  }
  return joined;
}

// The ways to round a quotient of numbers that are not negative up, brackets left out.
bool rounds_up(const std::string& value, const std::string& a, const std::string& b) {
  std::string plain;
  for (const Token& token : tokenize(value)) {
    const std::string_view word = token.in(value);
    if (word != "(" && word != ")") plain += (plain.empty() ? "" : " ") + std::string(word);
  }
  const std::string rest = fmt::format("{} % {}", a, b);
  const std::string floor = fmt::format("{} / {}", a, b);
  return plain == fmt::format("{} ! = 0 ? {} + 1 : {}", rest, floor, floor) ||
         plain == fmt::format("{} = = 0 ? {} : {} + 1", rest, floor, floor) ||
         plain == fmt::format("{} ? {} + 1 : {}", rest, floor, floor) ||
         plain == fmt::format("{} + {} ! = 0", floor, rest) ||
         plain == fmt::format("{} + {} ! = 0 ? 1 : 0", floor, rest) ||
         plain == fmt::format("{} + {} = = 0 ? 0 : 1", floor, rest);
}

class FunctionFinder {
 public:
  FunctionFinder(std::string_view source, const std::vector<Token>& tokens)
      : source_(source), tokens_(tokens) {}

  HostFunctions run() {
    for (const TopLevelDeclaration& one : split_top_level(source_, tokens_)) {
      if (one.kind != DeclarationKind::function || !one.body || !one.parameters || one.is_global ||
          one.names.empty())
        continue;
      add_body(one.names.front(), *one.parameters, *one.body);
    }
    for (std::size_t at = 1; at + 3 < tokens_.size(); ++at) {
      if (tokens_[at].kind == TokenKind::directive) {
        add_macro(word(at));
      } else if (word(at) == "=" && word(at + 1) == "[" &&
                 tokens_[at - 1].kind == TokenKind::identifier) {
        add_lambda(at);
      }
    }
    if (!tokens_.empty() && tokens_[0].kind == TokenKind::directive) add_macro(word(0));
    std::erase_if(found_, [](const auto& one) { return one.second.value.empty(); });
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(source_) : std::string_view();
  }

  static std::vector<std::string> names_of(std::string_view text, const std::vector<Token>& tokens,
                                           std::size_t open) {
    std::vector<std::string> names;
    const std::size_t after = after_bracket(text, tokens, open);
    std::string last;
    for (std::size_t at = open + 1; at < after; ++at) {
      const std::string_view word = tokens[at].in(text);
      if (tokens[at].kind == TokenKind::identifier) last = word;
      if (word != "," && at + 1 != after) continue;
      if (!last.empty()) names.push_back(std::exchange(last, ""));
    }
    return names;
  }

  void add(const std::string& name, std::vector<std::string> parameters, std::string value) {
    if (parameters.size() == 2 && rounds_up(value, parameters[0], parameters[1]))
      value = fmt::format("( {0} + {1} - 1 ) / {1}", parameters[0], parameters[1]);
    const auto [known, is_new] = found_.try_emplace(name, HostFunction{parameters, value});
    if (!is_new && (known->second.parameters != parameters || known->second.value != value))
      known->second.value.clear();
  }

  // "{ return value ; }" at a token; any other body has no value.
  void add_body(const std::string& name, std::size_t open, std::size_t body) {
    const std::size_t after = after_bracket(source_, tokens_, body);
    const bool is_plain =
        after >= body + 5 && word(body + 1) == "return" && word(after - 2) == ";" &&
        join(source_, tokens_, body + 2, after - 2).find(';') == std::string::npos;
    add(name, names_of(source_, tokens_, open),
        is_plain ? join(source_, tokens_, body + 2, after - 2) : "");
  }

  // "name = [...](a, b) -> type { return ...; }" by its "=".
  void add_lambda(std::size_t equals) {
    const std::size_t open = after_bracket(source_, tokens_, equals + 1);
    if (word(open) != "(") return;
    std::size_t body = after_bracket(source_, tokens_, open);
    while (body < tokens_.size() && word(body) != "{" && word(body) != ";" && word(body) != ")")
      ++body;
    if (word(body) == "{") add_body(std::string(word(equals - 1)), open, body);
  }

  void add_macro(std::string_view directive) {
    const std::string_view name = macro_named_by(directive);
    if (name.empty() || directive_name(directive) != "define") return;
    const std::string_view rest =
        directive.substr(static_cast<std::size_t>(name.data() - directive.data()) + name.size());
    if (!rest.starts_with('(')) return;
    std::string text(rest);
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
      if (text[at] == '\\' && (text[at + 1] == '\n' || text[at + 1] == '\r')) text[at] = ' ';
    }
    const std::vector<Token> tokens = tokenize(text);
    const std::size_t after = after_bracket(text, tokens, 0);
    add(std::string(name), names_of(text, tokens, 0), join(text, tokens, after, tokens.size()));
  }

  std::string_view source_;
  const std::vector<Token>& tokens_;
  HostFunctions found_;
};

}  // namespace

HostFunctions host_functions(std::string_view source, const std::vector<Token>& tokens) {
  return FunctionFinder(source, tokens).run();
}

std::size_t behind_cast(std::string_view text, const std::vector<Token>& tokens, std::size_t at) {
  const auto word = [&](std::size_t token) {
    return token < tokens.size() ? tokens[token].in(text) : std::string_view();
  };
  // The token behind the words of a type that is a number.
  const auto behind_type = [&](std::size_t first) {
    std::string type;
    std::size_t end = first;
    for (; end < tokens.size() && tokens[end].kind == TokenKind::identifier; ++end) {
      if (word(end) == "const") continue;
      if (word(end) == "std" && word(end + 1) == "::") {
        ++end;
        continue;
      }
      type += (type.empty() ? "" : " ") + std::string(word(end));
    }
    return scalar_type_from_cuda_name(type) ? end : first;
  };
  if (word(at) == "static_cast" && word(at + 1) == "<") {
    const std::size_t end = behind_type(at + 2);
    return end > at + 2 && word(end) == ">" ? end + 1 : at;
  }
  if (word(at) == "(") {
    const std::size_t end = behind_type(at + 1);
    return end > at + 1 && word(end) == ")" && end + 1 < tokens.size() ? end + 1 : at;
  }
  const std::size_t end = behind_type(at);
  return end > at && word(end) == "(" ? end : at;
}

std::string without_casts(const std::string& text) {
  const std::vector<Token> tokens = tokenize(text);
  std::string plain;
  for (std::size_t at = 0; at < tokens.size();) {
    if (const std::size_t next = behind_cast(text, tokens, at); next != at) {
      at = next;
      continue;
    }
    plain += (plain.empty() ? "" : " ") + std::string(tokens[at++].in(text));
  }
  const std::vector<Token> left = tokenize(plain);
  if (left.size() > 2 && left[0].in(plain) == "(" && after_bracket(plain, left, 0) == left.size())
    return without_casts(plain.substr(2, plain.size() - 4));
  return plain;
}

}  // namespace regraph::source
