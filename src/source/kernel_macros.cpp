#include "source/kernel_macros.h"

#include "source/top_level.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace regraph::source {
namespace {

constexpr std::size_t kMostWork = std::size_t{4} << 20;  // bytes, each time they are written
constexpr std::size_t kBytesOfUse = 256;                 // what a use costs in any case
constexpr int kDeepestUse = 32;

struct MacroDefinition {
  std::string_view name;
  bool takes_arguments = false;
  bool is_variadic = false;  // the last parameter takes all that is left
  std::vector<std::string> parameters;
  std::string replacement;  // in one line, behind a word, so that no "#" is first
};

// A line for a text of several, without comments and continuation marks.
std::string in_one_line(std::string_view text) {
  std::string result;
  std::size_t end = 0;
  for (const Token& token : tokenize(text)) {
    if (token.in(text) == "\\") continue;
    if (!result.empty() && token.begin > end) result += ' ';
    result += token.in(text);
    end = token.end;
  }
  return result;
}

std::optional<MacroDefinition> read_definition(std::string_view directive) {
  if (directive_name(directive) != "define") return std::nullopt;
  std::string_view rest = directive.substr(directive.find("define") + 6);
  const std::vector<Token> words = tokenize(rest);
  if (words.empty() || words[0].kind != TokenKind::identifier) return std::nullopt;
  MacroDefinition macro;
  macro.name = words[0].in(rest);
  std::size_t body = words[0].end;
  macro.takes_arguments = body < rest.size() && rest[body] == '(';
  if (macro.takes_arguments) {
    std::size_t at = 2;
    for (; at < words.size() && words[at].in(rest) != ")"; ++at) {
      const std::string_view word = words[at].in(rest);
      if (words[at].kind == TokenKind::identifier) macro.parameters.emplace_back(word);
      if (word == ".") macro.is_variadic = true;
    }
    if (at == words.size()) return std::nullopt;
    // "..." without a name; "name..." has one.
    if (macro.is_variadic &&
        (macro.parameters.empty() || words[at - 4].in(rest) != macro.parameters.back()))
      macro.parameters.emplace_back("__VA_ARGS__");
    body = words[at].end;
  }
  macro.replacement = in_one_line("0 " + std::string(rest.substr(body)));
  return macro;
}

bool has_word(std::string_view text, std::string_view word) {
  const std::vector<Token> tokens = tokenize(text);
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.in(text) == word; });
}

class MacroWriter {
 public:
  explicit MacroWriter(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  WrittenOutMacros run() {
    std::size_t copied = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind == TokenKind::directive) {
        take_directive(tokens_[at].in(text_));
        continue;
      }
      const MacroDefinition* const macro = macro_at(text_, tokens_[at]);
      if (macro == nullptr) continue;
      const auto use = use_at(text_, tokens_, at, *macro);
      if (!use || !(makes_kernel(*macro) || is_given_kernel(*use))) continue;
      const std::size_t begin = tokens_[at].begin;
      const std::size_t end = tokens_[use->last - 1].end;
      std::set<std::string_view> hidden;
      const std::string written = expanded(*macro, *use, hidden, 0);
      if (work_ > kMostWork) return {std::string(text_), {}};
      result_.text += text_.substr(copied, begin - copied);
      result_.text += written;
      result_.text.append(std::count(text_.begin() + begin, text_.begin() + end, '\n'), '\n');
      copied = end;
      if (std::ranges::find(result_.macros, macro->name) == result_.macros.end())
        result_.macros.emplace_back(macro->name);
      at = use->last - 1;
    }
    result_.text += text_.substr(copied);
    return std::move(result_);
  }

 private:
  // A use of a macro: its arguments, and the token behind it.
  struct Use {
    std::vector<std::string> arguments;
    std::size_t last = 0;
  };

  void take_directive(std::string_view directive) {
    if (auto macro = read_definition(directive)) {
      macros_.emplace(macro->name, std::move(*macro));
    } else if (directive_name(directive) == "undef") {
      const std::string_view rest = directive.substr(directive.find("undef") + 5);
      const std::vector<Token> words = tokenize(rest);
      if (!words.empty()) macros_.erase(words[0].in(rest));
    }
  }

  [[nodiscard]] const MacroDefinition* macro_at(std::string_view text, const Token& token) const {
    if (token.kind != TokenKind::identifier) return nullptr;
    const auto found = macros_.find(token.in(text));
    return found == macros_.end() ? nullptr : &found->second;
  }

  static std::optional<Use> use_at(std::string_view text, const std::vector<Token>& tokens,
                                   std::size_t at, const MacroDefinition& macro) {
    Use use;
    use.last = at + 1;
    if (!macro.takes_arguments) return use;
    if (at + 1 >= tokens.size() || tokens[at + 1].in(text) != "(") return std::nullopt;
    int depth = 0;
    std::size_t begin = at + 2;
    for (std::size_t next = at + 1; next < tokens.size(); ++next) {
      const std::string_view word = tokens[next].in(text);
      if (word == "(") ++depth;
      if (word == ")") --depth;
      const bool splits =
          word == "," && depth == 1 &&
          !(macro.is_variadic && use.arguments.size() + 1 == macro.parameters.size());
      if (!splits && depth > 0) continue;
      use.arguments.push_back(
          begin < next ? in_one_line(text.substr(tokens[begin].begin,
                                                 tokens[next - 1].end - tokens[begin].begin))
                       : "");
      begin = next + 1;
      use.last = next + 1;
      if (depth > 0) continue;
      if (macro.is_variadic && use.arguments.size() + 1 == macro.parameters.size())
        use.arguments.emplace_back();
      const bool has_none = macro.parameters.empty() && use.arguments.front().empty();
      if (has_none) use.arguments.clear();
      return use.arguments.size() == macro.parameters.size() ? std::optional(use) : std::nullopt;
    }
    return std::nullopt;
  }

  // Whether what stands for the macro holds the word, in it or in what macros in it stand for.
  [[nodiscard]] bool leads_to(const MacroDefinition& macro, bool (*wanted)(const MacroDefinition&),
                              std::set<std::string_view>& seen) const {
    if (!seen.insert(macro.name).second) return false;
    if (wanted(macro)) return true;
    const std::vector<Token> words = tokenize(macro.replacement);
    return std::ranges::any_of(words, [&](const Token& word) {
      const MacroDefinition* const inner = macro_at(macro.replacement, word);
      return inner != nullptr && leads_to(*inner, wanted, seen);
    });
  }

  // An object without a body is a word for "__global__ void", which stays.
  [[nodiscard]] bool makes_kernel(const MacroDefinition& macro) const {
    std::set<std::string_view> seen;
    return leads_to(
               macro,
               [](const MacroDefinition& one) { return has_word(one.replacement, "__global__"); },
               seen) &&
           (macro.takes_arguments || !is_word_for_kernel(macro));
  }
  [[nodiscard]] static bool is_word_for_kernel(const MacroDefinition& macro) {
    return has_word(macro.replacement, "__global__") && !has_word(macro.replacement, "{");
  }

  [[nodiscard]] bool pastes(const MacroDefinition& macro) const {
    std::set<std::string_view> seen;
    return leads_to(
        macro,
        [](const MacroDefinition& one) {
          return one.takes_arguments && one.replacement.find("##") != std::string::npos;
        },
        seen);
  }

  // OPERATIONS(DEFINE_KERNEL)
  [[nodiscard]] bool is_given_kernel(const Use& use) const {
    return std::ranges::any_of(use.arguments, [&](const std::string& argument) {
      const std::vector<Token> words = tokenize(argument);
      return std::ranges::any_of(words, [&](const Token& word) {
        const MacroDefinition* const macro = macro_at(argument, word);
        return macro != nullptr && macro->takes_arguments && makes_kernel(*macro);
      });
    });
  }

  // What a use stands for. Names in `hidden` are being written out already.
  std::string expanded(const MacroDefinition& macro, const Use& use,
                       std::set<std::string_view>& hidden, int depth) {
    work_ += kBytesOfUse;
    if (depth > kDeepestUse) work_ += kMostWork;
    if (work_ > kMostWork) return {};
    const bool pastes_names = pastes(macro);
    std::string text;
    const std::string& replacement = macro.replacement;
    const std::vector<Token> words = tokenize(replacement);
    const auto is = [&](std::size_t at, std::string_view word) {
      return at < words.size() && words[at].in(replacement) == word;
    };
    std::size_t end = words.size() > 1 ? words[1].begin : 0;
    for (std::size_t at = 1; at < words.size(); ++at) {
      const bool joins = is(at, "#") && is(at + 1, "#");
      if (joins) {
        while (!text.empty() && text.back() == ' ')
          text.pop_back();
        end = at + 2 < words.size() ? words[at + 2].begin : end;
        ++at;
        continue;
      }
      if (words[at].begin > end) text += ' ';
      end = words[at].end;
      const std::string* const argument =
          argument_for(macro, use, words[at].in(replacement), words[at].kind);
      if (is(at, "#") && macro.takes_arguments && at + 1 < words.size()) {
        const std::string* const named =
            argument_for(macro, use, words[at + 1].in(replacement), words[at + 1].kind);
        if (named != nullptr) {
          text += quoted(*named);
          end = words[++at].end;
          continue;
        }
      }
      if (argument == nullptr) {
        text += words[at].in(replacement);
        continue;
      }
      const bool is_joined =
          (at >= 2 && is(at - 1, "#") && is(at - 2, "#")) || (is(at + 1, "#") && is(at + 2, "#"));
      text += is_joined ? *argument : rescanned(*argument, hidden, depth + 1, pastes_names);
    }
    work_ += text.size();
    hidden.insert(macro.name);
    std::string result = rescanned(text, hidden, depth + 1, false);
    hidden.erase(macro.name);
    return result;
  }

  static const std::string* argument_for(const MacroDefinition& macro, const Use& use,
                                         std::string_view word, TokenKind kind) {
    if (kind != TokenKind::identifier) return nullptr;
    const auto found = std::ranges::find(macro.parameters, word);
    if (found == macro.parameters.end()) return nullptr;
    return &use.arguments[static_cast<std::size_t>(found - macro.parameters.begin())];
  }

  static std::string quoted(const std::string& argument) {
    std::string text = "\"";
    for (const char c : argument) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + "\"";
  }

  // The text with uses of macros in it written out: all, or those that make kernels or paste names.
  std::string rescanned(const std::string& text, std::set<std::string_view>& hidden, int depth,
                        bool all) {
    if (work_ > kMostWork) return {};
    const std::vector<Token> words = tokenize(text);
    std::string result;
    std::size_t copied = 0;
    for (std::size_t at = 0; at < words.size(); ++at) {
      const MacroDefinition* const macro = macro_at(text, words[at]);
      if (macro == nullptr || hidden.contains(macro->name)) continue;
      const auto use = use_at(text, words, at, *macro);
      if (!use) continue;
      if (!all && !pastes(*macro) && !makes_kernel(*macro) && !is_given_kernel(*use)) continue;
      result += text.substr(copied, words[at].begin - copied);
      result += expanded(*macro, *use, hidden, depth);
      copied = words[use->last - 1].end;
      at = use->last - 1;
    }
    return result + text.substr(copied);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::map<std::string_view, MacroDefinition> macros_;
  std::size_t work_ = 0;
  WrittenOutMacros result_;
};

}  // namespace

WrittenOutMacros write_out_kernel_macros(std::string_view text) {
  if (macro_with_kernel(text).empty()) return {std::string(text), {}};
  return MacroWriter(text).run();
}

std::string_view macro_with_kernel(std::string_view text) {
  for (const Token& token : tokenize(text)) {
    if (token.kind != TokenKind::directive) continue;
    const auto macro = read_definition(token.in(text));
    if (macro && has_word(macro->replacement, "__global__")) return macro->name;
  }
  return {};
}

}  // namespace regraph::source
