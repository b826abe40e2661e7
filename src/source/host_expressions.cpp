#include "source/host_expressions.h"

#include "source/lexer.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace regraph::source {
namespace {

// Constants are followed through other constants this deep: no cycle can hang the search.
constexpr int kDeepestConstant = 8;

std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hexadecimal) text.remove_prefix(2);
  // "256.0f", in quotients that are rounded up.
  if (const std::size_t point = text.find('.'); !hexadecimal && point != std::string_view::npos) {
    if (text.find_first_not_of("0fF", point + 1) != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// What stands between the commas of the bracket at a token.
std::vector<std::string> parts_of(const std::string& text, const std::vector<Token>& words,
                                  std::size_t open) {
  const std::size_t after = after_bracket(text, words, open);
  std::vector<std::string> parts;
  std::size_t begin = words[open].end;
  for (std::size_t at = open + 1; at < after; ++at) {
    const std::string_view word = words[at].in(text);
    if (at + 1 == after || word == ",") {
      parts.push_back(text.substr(begin, words[at].begin - begin));
      begin = words[at].end;
    } else if (word == "(") {
      at = after_bracket(text, words, at) - 1;
    }
  }
  return parts;
}

}  // namespace

// "dim3 ( a , b )", a name of one, or a plain integer expression: its one to three parts.
std::vector<std::string> HostExpressions::axes_of(const std::string& text, int depth) const {
  const std::vector<Token> words = tokenize(text);
  if (words.empty() || depth > kDeepestConstant) return {};
  const bool constructed = words[0].in(text) == "dim3" || words[0].in(text) == "{";
  if (constructed && words.size() > 2)
    return parts_of(text, words, words[0].in(text) == "{" ? 0 : 1);
  if (words.size() == 1 && words[0].kind == TokenKind::identifier) {
    const auto definition = definitions_.find(text);
    if (definition != definitions_.end() &&
        (definition->second.substr(0, 4) == "dim3" || definition->second.substr(0, 1) == "{")) {
      return axes_of(definition->second, depth + 1);
    }
  }
  return {text};
}

// (n + d - 1) / d -> cdiv(n, d), which steps can reason about; a d that is the block's own extent
// becomes its symbol, so that the grid follows the block.
IntegerExpression as_ceil_divide(const IntegerExpression& expression, const std::string& symbol,
                                 const std::uint32_t* extent) {
  // The canonical text is "(dividend + divisor - 1) / divisor", with the sum done for a number.
  const std::string text = expression.text();
  const std::size_t slash = text.rfind(") / ");
  if (text.front() != '(' || slash == std::string::npos) return expression;
  std::string divisor = text.substr(slash + 4);
  const bool product = divisor.size() > 2 && divisor.front() == '(' && divisor.back() == ')';
  if (product) divisor = divisor.substr(1, divisor.size() - 2);
  if (divisor.find_first_of(product ? "()+-/%" : " ()") != std::string::npos) return expression;
  const std::string sum = text.substr(1, slash - 1);
  const auto number = integer_of(divisor);
  const std::string ending =
      number ? fmt::format(" + {}", *number - 1) : fmt::format(" + {} - 1", divisor);
  if (!sum.ends_with(ending)) return expression;
  const std::string dividend = sum.substr(0, sum.size() - ending.size());
  if (extent != nullptr && divisor == std::to_string(*extent)) divisor = symbol;
  auto rounded = IntegerExpression::parse(fmt::format("cdiv({}, {})", dividend, divisor));
  return rounded ? *rounded : expression;
}

std::optional<IntegerExpression> HostExpressions::expression_of(const std::string& text,
                                                                int depth) const {
  const auto translated = translate(text, depth);
  if (!translated) return std::nullopt;
  auto expression = IntegerExpression::parse(*translated);
  if (!expression) return std::nullopt;
  return std::move(*expression);
}

// C++ to the language of manifests: constants and parameters are put in, integer suffixes and
// casts left out, shifts of numbers computed. Nothing when a name has no meaning.
std::optional<std::string> HostExpressions::translate(const std::string& text, int depth,
                                                      const Bound* bound) const {
  if (depth > kDeepestConstant) return std::nullopt;
  const std::vector<Token> words = tokenize(text);
  std::string result;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view token = words[at].in(text);
    if (words[at].kind == TokenKind::number) {
      const auto number = integer_of(token);
      if (!number) return std::nullopt;
      std::int64_t value = *number;
      const bool shifted =
          at + 3 < words.size() && words[at + 1].in(text) == "<" && words[at + 2].in(text) == "<";
      if (shifted) {
        const auto bits = integer_of(words[at + 3].in(text));
        if (!bits || *bits < 0 || *bits > 40) return std::nullopt;
        value <<= *bits;
        at += 3;
      }
      result += std::to_string(value);
    } else if (const std::size_t behind = behind_cast(text, words, at); behind != at) {
      at = behind - 1;
    } else if (words[at].kind == TokenKind::identifier) {
      if (token == "sizeof") {
        const std::size_t after = after_bracket(text, words, at + 1);
        std::string type;
        for (std::size_t inner = at + 2; inner + 1 < after; ++inner)
          type += (type.empty() ? "" : " ") + std::string(words[inner].in(text));
        const auto scalar = scalar_type_from_cuda_name(type);
        if (!scalar) return std::nullopt;
        result += std::to_string(size_in_bytes(*scalar));
        at = after - 1;
        continue;
      }
      const bool member = at + 2 < words.size() && words[at + 1].in(text) == ".";
      const std::string name =
          member ? fmt::format("{} . {}", token, words[at + 2].in(text)) : std::string(token);
      // In a function its own parameters count, not the names around the call.
      if (bound != nullptr) {
        if (const auto passed = bound->find(name); passed != bound->end()) {
          result += passed->second;
          continue;
        }
      } else if (const std::size_t after = named_product(text, words, at, result)) {
        at = after - 1;
        continue;
      } else if (const auto parameter = parameter_of_.find(name);
                 parameter != parameter_of_.end()) {
        result += parameter->second;
        at += member ? 2 : 0;
        continue;
      }
      if (const std::size_t after = rounded_up_quotient(text, words, at, depth, result)) {
        at = after - 1;
        continue;
      }
      if (const std::size_t after = call(text, words, at, depth, bound, result)) {
        at = after - 1;
        continue;
      }
      at += member ? 2 : 0;
      if (const auto value = value_of(name, depth)) {
        result += "(" + *value + ")";
      } else if (const auto size =
                     bound == nullptr ? as_host_size(text, words, at, name) : std::nullopt) {
        result += *size;
      } else {
        return std::nullopt;
      }
    } else if (std::string_view("+-*/%(),").find(token) != std::string_view::npos) {
      result += token;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

// What the definition of a name, or of the extent of a dim3 ("grid . x"), says.
std::optional<std::string> HostExpressions::value_of(const std::string& name, int depth) const {
  if (const auto definition = definitions_.find(name);
      definition != definitions_.end() && !definition->second.empty())
    return translate(definition->second, depth + 1);
  const std::size_t dot = name.find(" . ");
  if (dot == std::string::npos || name.size() != dot + 4) return std::nullopt;
  const std::vector<std::string> axes = axes_of(name.substr(0, dot), depth + 1);
  const std::size_t axis = std::string_view("xyz").find(name.back());
  if (axis == std::string_view::npos || axes.empty() || axes.front() == name.substr(0, dot))
    return std::nullopt;
  return axis < axes.size() ? translate(axes[axis], depth + 1) : "1";
}

// A product that the kernel is passed as it stands ("rows * columns"): adds the parameter and
// returns the token behind; else 0.
std::size_t HostExpressions::named_product(const std::string& text, const std::vector<Token>& words,
                                           std::size_t at, std::string& result) const {
  constexpr std::string_view kBinding = "*/%.";
  if (at > 0 && kBinding.find(words[at - 1].in(text)) != std::string_view::npos) return 0;
  for (const auto& [product, symbol] : parameter_of_) {
    const std::vector<Token> factors = tokenize(product);
    if (factors.size() < 3 || at + factors.size() > words.size()) continue;
    bool is_same = true;
    for (std::size_t i = 0; is_same && i < factors.size(); ++i) {
      const std::string_view factor = factors[i].in(product);
      is_same = factor == words[at + i].in(text) &&
                (i % 2 == 0 ? factors[i].kind == TokenKind::identifier : factor == "*");
    }
    const std::size_t after = at + factors.size();
    const std::string_view next = after < words.size() ? words[after].in(text) : "";
    if (!is_same || next == "." || next == "(" || next == "[" || next == "->") continue;
    result += symbol;
    return after;
  }
  return 0;
}

// A call of a function that is one expression, or of min and max: adds its value and returns the
// token behind; else 0.
std::size_t HostExpressions::call(const std::string& text, const std::vector<Token>& words,
                                  std::size_t at, int depth, const Bound* bound,
                                  std::string& result) const {
  const auto word = [&](std::size_t token) {
    return token < words.size() ? words[token].in(text) : std::string_view();
  };
  std::size_t name_at = at;
  if (word(at) == "std" && word(at + 1) == "::") name_at += 2;
  const std::string_view name = word(name_at);
  std::size_t open = name_at + 1;
  if (word(open) == "<") open = after_angle(text, words, open);
  if (word(open) != "(") return 0;
  const auto function = functions_.find(name);
  const bool is_known = function != functions_.end() && name_at == at;
  if (!is_known && name != "min" && name != "max") return 0;
  std::vector<std::string> passed;
  for (const std::string& part : parts_of(text, words, open)) {
    const auto value = translate(part, depth + 1, bound);
    if (!value) return 0;
    passed.push_back("(" + *value + ")");
  }
  if (!is_known) {
    if (passed.size() != 2) return 0;
    result += fmt::format("{}({}, {})", name, passed[0], passed[1]);
    return after_bracket(text, words, open);
  }
  const HostFunction& called = function->second;
  if (called.parameters.size() != passed.size()) return 0;
  Bound names;
  for (std::size_t i = 0; i < passed.size(); ++i)
    names.emplace(called.parameters[i], passed[i]);
  const auto value = translate(called.value, depth + 1, &names);
  if (!value) return 0;
  result += "(" + *value + ")";
  return after_bracket(text, words, open);
}

// A variable of the host whose value is not known, as a size, where such are allowed.
std::optional<std::string> HostExpressions::as_host_size(const std::string& text,
                                                         const std::vector<Token>& words,
                                                         std::size_t at, std::string name) const {
  if (host_sizes_ == nullptr) return std::nullopt;
  const std::string_view next = at + 1 < words.size() ? words[at + 1].in(text) : "";
  if (next == "(" || next == "[" || next == "<" || next == "::" || next == "->" || next == ".")
    return std::nullopt;
  if (const std::size_t dot = name.find(" . "); dot != std::string::npos) name.replace(dot, 3, "_");
  if (name == "bx" || name == "by" || name == "bz") return std::nullopt;
  const bool taken = std::ranges::any_of(
      kernel_.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
  if (taken) name = "host_" + name;
  host_sizes_->insert(name);
  return name;
}

// "ceil((float)n / 256.0)" at a token: adds "cdiv(n, 256)" and returns the token behind; else 0.
std::size_t HostExpressions::rounded_up_quotient(const std::string& text,
                                                 const std::vector<Token>& words, std::size_t at,
                                                 int depth, std::string& result) const {
  const std::string_view name = words[at].in(text);
  const bool rounds = name == "ceil" || name == "ceilf";
  if (!rounds || at + 1 >= words.size() || words[at + 1].in(text) != "(") return 0;
  const std::size_t after = after_bracket(text, words, at + 1);
  std::size_t slash = 0;
  for (std::size_t token = at + 2; token + 1 < after; ++token) {
    if (words[token].in(text) == "(") token = after_bracket(text, words, token) - 1;
    if (words[token].in(text) == "/") slash = token;
  }
  if (slash == 0) return 0;
  const auto part = [&](std::size_t first, std::size_t last) {
    const std::size_t begin = words[first].begin;
    return translate(text.substr(begin, words[last - 1].end - begin), depth + 1);
  };
  const auto dividend = part(at + 2, slash);
  const auto divisor = part(slash + 1, after - 1);
  if (!dividend || !divisor) return 0;
  result += fmt::format("cdiv({}, {})", *dividend, *divisor);
  return after;
}

}  // namespace regraph::source
