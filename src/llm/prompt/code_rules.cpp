#include "llm/prompt/code_rules.h"

#include "llm/prompt/code_tokens.h"
#include "llm/prompt/directive_rules.h"
#include "llm/prompt/prompt_text.h"
#include "source/lexer.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::llm {

namespace {

using source::Token;
using source::TokenKind;

constexpr std::size_t kShown = 80;

Error at_line(std::size_t line, const std::string& what) {
  return fail(ErrorCode::parse, fmt::format("line {} of the code: {}", line, what));
}

bool is_inline_assembly(std::string_view name) {
  return name == "asm" || name == "__asm__" || name == "__asm";
}

// Functions and types of the CUDA runtime and driver. What the device has of them is not many.
bool is_host_api(std::string_view name) {
  constexpr auto kOnDevice = std::to_array<std::string_view>(
      {"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion",
       "cudaTextureObject_t", "cudaSurfaceObject_t"});
  if (std::ranges::find(kOnDevice, name) != kOnDevice.end()) return false;
  const bool runtime =
      name.size() > 4 && name.substr(0, 4) == "cuda" && name[4] >= 'A' && name[4] <= 'Z';
  return runtime || name.substr(0, 8) == "cuLaunch" || name.substr(0, 5) == "cuMem" ||
         name.substr(0, 5) == "nvrtc";
}

bool is_preprocessor_query(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"__has_include", "__has_include_next", "__has_embed", "__has_cpp_attribute", "__pragma"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// Brackets of alternative preprocessor branches count once.
class Brackets {
 public:
  // The complaint, empty when there is none.
  std::string take(const Token& token, std::string_view word) {
    if (token.kind == TokenKind::directive) return take_directive(source::directive_name(word));
    if (token.kind != TokenKind::punctuation || word.size() != 1) return {};
    const std::size_t opening = std::string_view("([{").find(word[0]);
    if (opening != std::string_view::npos) {
      open_.push_back(word[0]);
      return open_.size() > kMostNesting ? fmt::format("brackets nest deeper than {}", kMostNesting)
                                         : "";
    }
    const std::size_t closing = std::string_view(")]}").find(word[0]);
    if (closing == std::string_view::npos) return {};
    if (open_.empty()) return fmt::format("'{}' closes nothing", word);
    const char last = open_.back();
    open_.pop_back();
    if (last == "([{"[closing]) return {};
    return fmt::format("'{}' closes '{}'", word, last);
  }
  [[nodiscard]] std::string finish() const {
    if (open_.empty()) return {};
    return fmt::format("{} of the brackets '([{{' {} never closed: the code is cut off or wrong",
                       open_.size(), open_.size() == 1 ? "is" : "are");
  }

 private:
  static constexpr std::size_t kMostNesting = 256;
  static constexpr std::size_t kMostBranches = 64;

  std::string take_directive(std::string_view name) {
    if (name.substr(0, 2) == "if") {
      branches_.push_back(open_);
      if (branches_.size() > kMostBranches) return "too many #if in each other";
    } else if (branches_.empty()) {
      return {};
    } else if (name.substr(0, 2) == "el") {
      open_ = branches_.back();
    } else if (name == "endif") {
      branches_.pop_back();
    }
    return {};
  }

  std::string open_;
  std::vector<std::string> branches_;  // the brackets open where each #if began
};

class Examiner {
 public:
  Examiner(std::string_view text, std::string_view base)
      : text_(text), tokens_(source::tokenize(text)) {
    const std::vector<Token> tokens = source::tokenize(base);
    for (std::size_t place = 0; place < tokens.size(); ++place) {
      const std::string_view word = tokens[place].in(base);
      if (tokens[place].kind == TokenKind::directive) own_.insert(one_line(word, base.size()));
      if (is_inline_assembly(word)) own_.insert(statement(base, tokens, place));
      if (is_host_api(word)) own_.insert(std::string(word));
    }
  }

  Status run() {
    Brackets brackets;
    for (std::size_t place = 0; place < tokens_.size(); ++place) {
      const Token& token = tokens_[place];
      if (std::string what = brackets.take(token, word(place)); !what.empty()) {
        return at_line(token.line, what);
      }
      if (std::string what = complaint(place); !what.empty()) return at_line(token.line, what);
    }
    const std::string what = brackets.finish();
    return what.empty() ? Status{} : fail(ErrorCode::parse, what);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t place) const {
    return place < tokens_.size() ? tokens_[place].in(text_) : std::string_view();
  }

  // The words from `place` to the parenthesis that closes, without white space.
  static std::string statement(std::string_view text, const std::vector<Token>& tokens,
                               std::size_t place) {
    constexpr std::size_t kLongest = 4096;
    std::string out;
    int depth = 0;
    for (; place < tokens.size() && out.size() < kLongest; ++place) {
      const std::string_view word = tokens[place].in(text);
      out += word;
      out += ' ';
      if (word == "(") ++depth;
      if (word == ")" && --depth <= 0) break;
    }
    return out;
  }

  std::string complaint(std::size_t place) const {
    const Token& token = tokens_[place];
    if (token.kind == TokenKind::directive) {
      const std::string line = one_line(word(place), text_.size());
      if (own_.contains(line)) return {};
      const Status status = check_directive(word(place));
      if (!status) return status.error().message;
      return complaint_in_words(code_tokens(word(place)));
    }
    if (token.kind == TokenKind::identifier && is_inline_assembly(word(place)) &&
        own_.contains(statement(text_, tokens_, place))) {
      return {};
    }
    if (std::string what = digraph(place); !what.empty()) return what;
    return complaint_about(word(place), word(place + 1), word(place + 2));
  }

  std::string complaint_in_words(const std::vector<std::string_view>& words) const {
    const auto at = [&](std::size_t place) {
      return place < words.size() ? words[place] : std::string_view();
    };
    for (std::size_t place = 0; place < words.size(); ++place) {
      std::string what = complaint_about(at(place), at(place + 1), at(place + 2));
      if (!what.empty()) return what;
    }
    return {};
  }

  std::string complaint_about(std::string_view word, std::string_view next,
                              std::string_view after) const {
    if (word == "`" || word == "@") {
      return fmt::format("'{}' is no part of CUDA C++; is a fence at the wrong place?", word);
    }
    if (word == "<<<") return "host code: a launch <<< >>>; answer with device code only";
    if (!is_name(word)) return {};
    if (is_inline_assembly(word)) return "inline assembly is not accepted";
    if (is_preprocessor_query(word)) return fmt::format("'{}' is not accepted", word);
    if (word == "_Pragma" && (next != "(" || !is_unroll_text(after))) {
      return "only _Pragma(\"unroll\") is accepted";
    }
    if ((word == "main" && next == "(") || (word == "thrust" && next == "::") ||
        (is_host_api(word) && !own_.contains(std::string(word)))) {
      return fmt::format("host code: '{}'; answer with device code only", one_line(word, kShown));
    }
    return {};
  }

  static bool is_unroll_text(std::string_view literal) {
    return literal.substr(0, 7) == "\"unroll" || literal.substr(0, 9) == "\"nounroll";
  }

  // Other spellings of # [ ] { }, which would hide them from these checks.
  std::string digraph(std::size_t place) const {
    if (place + 1 >= tokens_.size() || tokens_[place].end != tokens_[place + 1].begin) return {};
    const std::string pair = std::string(word(place)) + std::string(word(place + 1));
    for (const std::string_view known : {"<:", ":>", "<%", "%>", "%:"}) {
      if (pair == known) return fmt::format("the digraph '{}'; write the character itself", known);
    }
    return {};
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::set<std::string> own_;  // of the base: directives, assembly statements, host names
};

}  // namespace

Status check_code_rules(std::string_view source, std::string_view base) {
  return Examiner(source, base).run();
}

}  // namespace regraph::llm
