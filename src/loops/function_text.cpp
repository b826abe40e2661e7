#include "loops/function_text.h"

#include "source/lexer.h"
#include "source/top_level.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace regraph::loops {
namespace {

using source::DeclarationKind;
using source::Token;
using source::TokenKind;
using source::TopLevelDeclaration;

struct ArrayParameter {
  std::vector<std::string> extents;  // as written, the outermost aside
};

class FunctionRewriter {
 public:
  explicit FunctionRewriter(std::string_view text)
      : text_(text),
        tokens_(source::tokenize(text)),
        declarations_(source::split_top_level(text, tokens_)) {}

  Result<FunctionText> run(const std::string& name) {
    if (Status found = find(name); !found) return found.error();
    result_.name = function_->names.front();
    result_.qualified_name = namespaces_of(*function_) + result_.name;
    result_.line = line_of(*function_->parameters);
    if (Status status = change_head(); !status) return status.error();
    if (Status status = change_parameters(); !status) return status.error();
    if (Status status = mark_callees(); !status) return status.error();
    result_.text = rewritten(0, tokens_.size());
    result_.text += text_.substr(tokens_.back().end);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string_view at(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(text_) : std::string_view();
  }
  [[nodiscard]] int line_of(std::size_t token) const {
    return static_cast<int>(tokens_[token].line);
  }
  [[nodiscard]] Error refusal(std::size_t token, const std::string& why) const {
    return Error{ErrorCode::unsupported, fmt::format("line {}: {}", line_of(token), why)};
  }
  static bool is_defined(const TopLevelDeclaration& one) {
    return one.kind == DeclarationKind::function && one.body && one.parameters &&
           !one.names.empty();
  }

  // "numbers::" of what stands in namespace numbers.
  [[nodiscard]] std::string namespaces_of(const TopLevelDeclaration& wanted) const {
    std::vector<std::string> open;
    for (const TopLevelDeclaration& one : declarations_) {
      if (&one == &wanted) break;
      if (one.kind != DeclarationKind::scope) continue;
      if (at(one.first) == "}") {
        if (!open.empty()) open.pop_back();
        continue;
      }
      std::string name;
      for (std::size_t token = one.first; token < one.last; ++token) {
        const bool is_part = tokens_[token].kind == TokenKind::identifier || at(token) == "::";
        if (is_part && at(token) != "namespace" && at(token) != "inline" && at(token) != "extern")
          name += at(token);
      }
      open.push_back(name.empty() ? "" : name + "::");
    }
    std::string result;
    for (const std::string& part : open)
      result += part;
    return result;
  }

  [[nodiscard]] bool has_loop(const TopLevelDeclaration& one) const {
    for (std::size_t token = *one.body; token < one.last; ++token) {
      if (at(token) == "for") return true;
    }
    return false;
  }

  Status find(const std::string& name) {
    std::vector<std::string> names;
    std::vector<const TopLevelDeclaration*> found;
    for (const TopLevelDeclaration& one : declarations_) {
      if (!is_defined(one) || one.names.front() == "main") continue;
      const std::string& own = one.names.front();
      if (name.empty() ? has_loop(one) : own == name) found.push_back(&one);
      if (has_loop(one)) names.push_back(own);
    }
    if (found.empty()) {
      return fail(ErrorCode::not_found,
                  names.empty() ? std::string("the file defines no function with a loop")
                                : fmt::format("the file defines no function '{}' (with loops it "
                                              "has: {})",
                                              name, fmt::join(names, ", ")));
    }
    if (found.size() > 1) {
      return fail(ErrorCode::not_found,
                  name.empty() ? fmt::format("the file has several functions with loops; choose "
                                             "one with --function: {}",
                                             fmt::join(names, ", "))
                               : fmt::format("the file defines '{}' several times (lines {} and "
                                             "{}); give them two names",
                                             name, line_of(*found[0]->parameters),
                                             line_of(*found[1]->parameters)));
    }
    function_ = found.front();
    if (function_->template_closer)
      return refusal(function_->first, "'" + function_->names.front() +
                                           "' is a template; give it types, or call it from a "
                                           "function that has them");
    return {};
  }

  void replace(std::size_t token, std::string by) { changed_[token] = std::move(by); }

  // `static inline float f(` becomes `__global__ void f(`.
  Status change_head() {
    constexpr std::array<std::string_view, 6> kSpecifiers = {"static",    "inline", "extern",
                                                             "constexpr", "\"C\"",  "noexcept"};
    const std::size_t name = *function_->parameters - 1;
    std::string type;
    for (std::size_t token = function_->first; token < name; ++token) {
      if (tokens_[token].kind == TokenKind::directive) continue;
      const bool specifies = std::ranges::find(kSpecifiers, at(token)) != kSpecifiers.end();
      if (!specifies) type += (type.empty() ? "" : " ") + std::string(at(token));
      replace(token, "");
    }
    changed_[name] = "__global__ void " + std::string(at(name));
    // What stands behind the parameters, such as noexcept.
    for (std::size_t token = source::after_bracket(text_, tokens_, *function_->parameters);
         token < *function_->body; ++token)
      replace(token, "");
    if (type == "void") return {};
    return change_result(type);
  }

  Status change_result(const std::string& type) {
    const bool is_plain = type.find_first_of("*&<[(") == std::string::npos && type != "auto";
    if (!is_plain)
      return refusal(*function_->parameters,
                     "what it returns is a '" + type + "'; numbers and nothing can be returned");
    std::vector<std::size_t> returns;
    int depth = 0;
    int depth_of_last = 0;
    for (std::size_t token = *function_->body; token < function_->last; ++token) {
      if (at(token) == "{") ++depth;
      if (at(token) == "}") --depth;
      if (at(token) != "return") continue;
      returns.push_back(token);
      depth_of_last = depth;
    }
    if (returns.size() != 1 || depth_of_last != 1) {
      return refusal(returns.empty() ? *function_->parameters : returns.front(),
                     "a value may be returned at the function's end alone");
    }
    std::set<std::string_view> used;
    for (const Token& token : tokens_)
      used.insert(token.in(text_));
    result_.result = "result";
    for (int number = 1; used.contains(result_.result); ++number)
      result_.result = fmt::format("result_{}", number);
    replace(returns.front(), result_.result + "[0] =");
    const std::size_t open = *function_->parameters;
    const std::size_t close = source::after_bracket(text_, tokens_, open) - 1;
    const bool has_others = close > open + 1 && at(open + 1) != "void";
    if (at(open + 1) == "void" && close == open + 2) replace(open + 1, "");
    const std::string last = fmt::format("{}{}* {}", has_others ? ", " : "", type, result_.result);
    replace(close, last + ")");
    return {};
  }

  Status change_parameters() {
    const std::size_t open = *function_->parameters;
    const std::size_t close = source::after_bracket(text_, tokens_, open) - 1;
    std::size_t begin = open + 1;
    int depth = 0;
    for (std::size_t token = begin; token <= close; ++token) {
      const std::string_view word = at(token);
      const bool ends = token == close || (depth == 0 && word == ",");
      if (ends) {
        if (Status status = change_parameter(begin, token); !status) return status;
        begin = token + 1;
        continue;
      }
      if (word == "(" || word == "[" || word == "<") ++depth;
      if (word == ")" || word == "]" || word == ">") --depth;
    }
    return {};
  }

  // Tokens [begin, end) declare one parameter.
  Status change_parameter(std::size_t begin, std::size_t end) {
    std::size_t bracket = end;
    std::size_t name = end;
    for (std::size_t token = begin; token < end; ++token) {
      const std::string_view word = at(token);
      if (word == "restrict") replace(token, "__restrict__");
      if (word == "[" && bracket == end) bracket = token;
      if (bracket == end && tokens_[token].kind == TokenKind::identifier) name = token;
      const bool is_class = word == "vector" || word == "array" || word == "span" ||
                            word == "function" || word == "valarray";
      if (word == "&" || (bracket == end && word == "(") || is_class) {
        return refusal(token, fmt::format("the parameter '{}' is no number, pointer or array of "
                                          "fixed extents, which are what a kernel can be passed; "
                                          "pass the address of the elements instead",
                                          text_of(begin, end)));
      }
    }
    if (bracket == end || name == end) return {};
    ArrayParameter array;
    bool is_first = true;
    for (std::size_t token = bracket; token < end && at(token) == "[";) {
      const std::size_t after = source::after_bracket(text_, tokens_, token);
      if (!is_first) array.extents.push_back(text_of(token + 1, after - 1));
      is_first = false;
      for (std::size_t inside = token; inside < after; ++inside)
        replace(inside, "");
      token = after;
    }
    replace(name, "*" + std::string(at(name)));
    if (!array.extents.empty()) arrays_[std::string(at(name))] = std::move(array);
    return {};
  }

  [[nodiscard]] std::string text_of(std::size_t begin, std::size_t end) const {
    if (begin >= end) return "";
    return std::string(
        text_.substr(tokens_[begin].begin, tokens_[end - 1].end - tokens_[begin].begin));
  }

  // Functions that are reached become device code; variables of the file that are reached are none.
  Status mark_callees() {
    std::vector<const TopLevelDeclaration*> open = {function_};
    std::set<const TopLevelDeclaration*> reached = {function_};
    while (!open.empty()) {
      const TopLevelDeclaration& user = *open.back();
      open.pop_back();
      for (std::size_t token = user.first; token < user.last; ++token) {
        if (tokens_[token].kind != TokenKind::identifier) continue;
        const bool is_member = token > 0 && (at(token - 1) == "." || at(token - 1) == "->");
        if (is_member) continue;
        for (const TopLevelDeclaration& one : declarations_) {
          if (std::ranges::find(one.names, at(token)) == one.names.end()) continue;
          const bool is_state =
              one.kind == DeclarationKind::variable &&
              (!one.is_constant || text_of(one.first, one.last).find('[') != std::string::npos);
          if (is_state && !is_declared_in(user, at(token)))
            return refusal(token, fmt::format("it uses the variable '{}' of the file (line {}); "
                                              "pass it as an argument",
                                              at(token), line_of(one.first)));
          if (one.kind == DeclarationKind::function && reached.insert(&one).second)
            open.push_back(&one);
        }
      }
    }
    for (const TopLevelDeclaration* one : reached) {
      if (one == function_) continue;
      if (one->names.front() == result_.name) {
        blank(*one);  // a declaration of the function itself
        continue;
      }
      const std::size_t first = one->template_closer ? *one->template_closer + 1 : one->first;
      replace(first, "__device__ " + std::string(at(first)));
    }
    for (const TopLevelDeclaration& one : declarations_) {
      const bool declares = one.kind == DeclarationKind::function && !one.body &&
                            !one.names.empty() && one.names.front() == result_.name;
      if (declares) blank(one);
    }
    return {};
  }

  void blank(const TopLevelDeclaration& one) {
    for (std::size_t token = one.first; token < one.last; ++token) {
      if (tokens_[token].kind != TokenKind::directive) replace(token, "");
    }
  }

  // Whether a parameter or local of that name may stand in front of the file's variable.
  [[nodiscard]] bool is_declared_in(const TopLevelDeclaration& user, std::string_view name) const {
    for (std::size_t token = user.first + 1; token + 1 < user.last; ++token) {
      if (at(token) != name) continue;
      const std::string_view before = at(token - 1);
      const std::string_view after = at(token + 1);
      const bool declares = tokens_[token - 1].kind == TokenKind::identifier || before == "*";
      return declares &&
             (after == "=" || after == ";" || after == "," || after == ")" || after == "[");
    }
    return false;
  }

  // The text of the tokens with all changes; blanks and comments between them stay.
  std::string rewritten(std::size_t begin, std::size_t end) {
    std::string out;
    for (std::size_t token = begin; token < end;) {
      const std::size_t from = token == 0 ? 0 : tokens_[token - 1].end;
      if (token > begin || begin == 0) out += text_.substr(from, tokens_[token].begin - from);
      std::size_t after = token + 1;
      const auto changed = changed_.find(token);
      const auto array = arrays_.find(std::string(at(token)));
      const bool in_body = function_->body && token > *function_->body && token < function_->last;
      if (changed != changed_.end()) {
        out += changed->second;
      } else if (in_body && array != arrays_.end() && at(after) == "[") {
        out += flat_access(token, array->second, after);
      } else {
        out += at(token);
      }
      token = after;
    }
    return out;
  }

  // a[i][j] with extents [N][M] as a[(i) * (M) + (j)]; `after` is set behind it.
  std::string flat_access(std::size_t token, const ArrayParameter& array, std::size_t& after) {
    std::string index;
    std::size_t place = token + 1;
    for (std::size_t i = 0; i <= array.extents.size(); ++i) {
      if (at(place) != "[") break;
      const std::size_t end = source::after_bracket(text_, tokens_, place);
      std::string own = rewritten(place + 1, end - 1);
      if (end - place != 3) own = fmt::format("({})", own);
      const std::string factor =
          i == 0 ? ""
                 : (index.find(' ') == std::string::npos ? index : "(" + index + ")") + " * (" +
                       array.extents[i - 1] + ") + ";
      index = factor + own;
      place = end;
    }
    after = place;
    return fmt::format("{}[{}]", at(token), index);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<TopLevelDeclaration> declarations_;
  const TopLevelDeclaration* function_ = nullptr;
  std::map<std::size_t, std::string> changed_;  // token -> what stands in its place
  std::map<std::string, ArrayParameter> arrays_;
  FunctionText result_;
};

}  // namespace

Result<FunctionText> function_as_kernel(std::string_view text, const std::string& name) {
  if (source::tokenize(text).empty()) return fail(ErrorCode::not_found, "the file is empty");
  return FunctionRewriter(text).run(name);
}

bool is_sequential_file(std::string_view file) {
  constexpr std::array<std::string_view, 4> kEndings = {".cpp", ".cc", ".cxx", ".c"};
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return file.ends_with(ending); });
}

}  // namespace regraph::loops
