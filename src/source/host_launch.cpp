#include "source/host_launch.h"

#include "source/top_level.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

// Constants are followed through other constants this deep: no cycle can hang the search.
constexpr int kDeepestConstant = 8;

struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
};

class LaunchFinder {
 public:
  LaunchFinder(std::string_view source, const KernelSignature& kernel)
      : source_(source),
        kernel_(kernel),
        name_(unqualified_name(kernel.name)),
        tokens_(tokenize(source)) {
    collect_definitions();
  }

  std::optional<HostLaunch> run() {
    std::optional<HostLaunch> first;
    for (std::size_t at = 1; at < tokens_.size(); ++at) {
      if (word(at) != "<<<" || !names_kernel(at)) continue;
      HostLaunch found = read(at);
      if (!first) {
        first = std::move(found);
      } else if (first->overlapping_line == 0) {
        first->overlapping_line = found.overlapping_line;
      }
    }
    return first;
  }

  std::vector<HostLaunch> all() {
    std::vector<HostLaunch> launches;
    for (std::size_t at = 1; at < tokens_.size(); ++at) {
      if (word(at) != "<<<" || !names_kernel(at)) continue;
      parameter_of_.clear();
      launches.push_back(read(at));
    }
    return launches;
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const {
    return token < tokens_.size() ? tokens_[token].in(source_) : std::string_view();
  }
  [[nodiscard]] bool is_identifier(std::size_t token) const {
    return token < tokens_.size() && tokens_[token].kind == TokenKind::identifier;
  }

  // Whether the words before "<<<" name the kernel, with or without template arguments.
  [[nodiscard]] bool names_kernel(std::size_t launch) const {
    std::size_t at = launch - 1;
    if (word(at) == ">") {
      int angles = 0;
      for (; at > 0; --at) {
        if (word(at) == ">") ++angles;
        if (word(at) == "<" && --angles == 0) break;
      }
      if (at > 0) --at;
    }
    return word(at) == name_;
  }

  // Where a definition stands: what is nearer to a launch counts before what is farther.
  enum class Scope : std::uint8_t { other_function, file, same_function };
  struct Definition {
    std::size_t token = 0;
    std::string_view name;
    std::string value;
  };

  // name = value; and name(value), outside of device code.
  void collect_definitions() {
    for (const TopLevelDeclaration& declaration : split_top_level(source_, tokens_)) {
      if (declaration.kind == DeclarationKind::function && declaration.body)
        functions_.push_back(
            {{declaration.first, declaration.last},
             declaration.is_global || (declaration.is_device && !declaration.is_host)});
    }
    for (const auto& [name, replacement] : object_macros(source_, tokens_))
      define(0, name, std::string(replacement));
    for (std::size_t at = 1; at + 2 < tokens_.size(); ++at) {
      if (!is_identifier(at) || word(at - 1) == "." || word(at - 1) == "->") continue;
      if (word(at + 1) == "=") {
        define(at, word(at), join({at + 2, end_of_value(at + 2)}));
      } else if (is_assignment(at + 1)) {
        define(at, word(at), "");
      } else if ((word(at + 1) == "(" || word(at + 1) == "{") && is_dim3(at)) {
        define(at, word(at), "dim3" + join({at + 1, after_bracket(source_, tokens_, at + 1)}));
      }
    }
  }

  void define(std::size_t token, std::string_view name, std::string value) {
    all_definitions_.push_back({token, name, std::move(value)});
  }

  struct Function {
    Range tokens;
    bool is_device = false;
  };
  [[nodiscard]] const Function* function_at(std::size_t token) const {
    for (const Function& one : functions_) {
      if (one.tokens.first <= token && token < one.tokens.last) return &one;
    }
    return nullptr;
  }

  // What names mean where a launch stands. A name with two different definitions of one scope is no
  // constant.
  void see_from(std::size_t launch) {
    definitions_.clear();
    const Function* const here = function_at(launch);
    for (const Scope scope : {Scope::other_function, Scope::file, Scope::same_function}) {
      std::map<std::string, std::string, std::less<>> of_scope;
      for (const Definition& one : all_definitions_) {
        const Function* const function = function_at(one.token);
        if (function != nullptr && function->is_device && function != here) continue;
        const Scope its = function == nullptr ? Scope::file
                          : function == here  ? Scope::same_function
                                              : Scope::other_function;
        if (its != scope) continue;
        const auto [at, added] = of_scope.emplace(one.name, one.value);
        if (!added && at->second != one.value) at->second.clear();
      }
      for (auto& [name, value] : of_scope)
        definitions_.insert_or_assign(name, std::move(value));
    }
  }

  // Whether the name is declared here as a dim3: "dim3 name(" or "dim3 other(...), name(".
  [[nodiscard]] bool is_dim3(std::size_t at) const {
    std::size_t back = at - 1;
    while (word(back) == "," && back > 1 && (word(back - 1) == ")" || word(back - 1) == "}")) {
      int depth = 0;
      for (--back; back > 0; --back) {
        if (word(back) == ")" || word(back) == "}") ++depth;
        if ((word(back) == "(" || word(back) == "{") && --depth == 0) break;
      }
      if (back < 2 || !is_identifier(back - 1)) return false;
      back -= 2;
    }
    return word(back) == "dim3";
  }

  [[nodiscard]] bool is_assignment(std::size_t at) const {
    const std::string_view first = word(at);
    const bool compound = std::string_view("+-*/%").find(first) != std::string_view::npos &&
                          first.size() == 1 && word(at + 1) == "=";
    const bool counted = (first == "+" || first == "-") && word(at + 1) == first;
    return compound || counted;
  }

  [[nodiscard]] std::size_t end_of_value(std::size_t at) const {
    for (; at < tokens_.size(); ++at) {
      const std::string_view token = word(at);
      if (token == "(" || token == "[" || token == "{") {
        at = after_bracket(source_, tokens_, at) - 1;
      } else if (token == ";" || token == "," || token == ")" || token == "}") {
        break;
      }
    }
    return at;
  }

  [[nodiscard]] std::string join(Range range) const {
    std::string text;
    for (std::size_t at = range.first; at < range.last && at < tokens_.size(); ++at) {
      if (tokens_[at].kind == TokenKind::directive) continue;
      text += (text.empty() ? "" : " ") + std::string(word(at));
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> split(std::size_t first, std::size_t last) const {
    std::vector<std::string> parts;
    std::size_t begin = first;
    for (std::size_t at = first; at < last; ++at) {
      if (word(at) == "(" || word(at) == "{" || word(at) == "[") {
        at = after_bracket(source_, tokens_, at) - 1;
      } else if (word(at) == ",") {
        parts.push_back(join({begin, at}));
        begin = at + 1;
      }
    }
    if (begin < last) parts.push_back(join({begin, last}));
    return parts;
  }

  HostLaunch read(std::size_t launch) {
    see_from(launch);
    HostLaunch found;
    found.line = static_cast<int>(tokens_[launch].line);
    found.begin = tokens_[launch].begin;
    std::size_t close = launch + 1;
    while (close < tokens_.size() && word(close) != ">>>")
      ++close;
    const std::vector<std::string> shape = split(launch + 1, close);
    if (word(close + 1) == "(") read_arguments(close + 1, found);
    if (shape.size() >= 2) {
      found.block = block_of(shape[1]);
      found.grid = grid_of(shape[0], shape[1]);
    }
    if (shape.size() >= 3) found.dynamic_shared_bytes = expression_of(shape[2], 0);
    return found;
  }

  static bool is_null(const std::string& text) {
    return text == "nullptr" || text == "NULL" || text == "0";
  }

  void read_arguments(std::size_t open, HostLaunch& found) {
    const std::size_t after = after_bracket(source_, tokens_, open);
    const std::vector<std::string> arguments = split(open + 1, after - 1);
    for (std::size_t i = 0; i < arguments.size() && i < kernel_.parameters.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      if (!parameter.is_passed()) break;
      if (parameter.is_pointer) {
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
          const Parameter& other = kernel_.parameters[earlier];
          if (!other.is_pointer || arguments[earlier] != arguments[i] || is_null(arguments[i]))
            continue;
          found.same_buffer.emplace(parameter.name, other.name);
          found.overlapping_line = found.line;
          break;
        }
        continue;
      }
      if (is_floating(parameter.type) || parameter.record_bytes > 0) continue;
      if (const auto value = expression_of(arguments[i], 0)) {
        if (const auto constant = value->evaluate({}); constant.ok())
          found.integers[parameter.name] = *constant;
      }
      // Host names of parameters, for grids that are computed from them.
      parameter_of_.emplace(arguments[i], parameter.name);
    }
  }

  // "dim3 ( a , b )", a name of one, or a plain integer expression: its one to three parts.
  [[nodiscard]] std::vector<std::string> axes_of(const std::string& text, int depth) const {
    const std::vector<Token> words = tokenize(text);
    if (words.empty() || depth > kDeepestConstant) return {};
    const bool constructed = words[0].in(text) == "dim3" || words[0].in(text) == "{";
    if (constructed && words.size() > 2) {
      const std::size_t open = words[0].in(text) == "{" ? 0 : 1;
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
    if (words.size() == 1 && words[0].kind == TokenKind::identifier) {
      const auto definition = definitions_.find(text);
      if (definition != definitions_.end() &&
          (definition->second.substr(0, 4) == "dim3" || definition->second.substr(0, 1) == "{")) {
        return axes_of(definition->second, depth + 1);
      }
    }
    return {text};
  }

  [[nodiscard]] std::optional<Dim3> block_of(const std::string& text) const {
    const std::vector<std::string> axes = axes_of(text, 0);
    if (axes.empty() || axes.size() > 3) return std::nullopt;
    Dim3 block;
    std::uint32_t* const extents[] = {&block.x, &block.y, &block.z};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const auto value = expression_of(axes[axis], 0);
      if (!value) return std::nullopt;
      const auto extent = value->evaluate({});
      if (!extent.ok() || *extent < 1 || *extent > kMaxThreadsPerBlock) return std::nullopt;
      *extents[axis] = static_cast<std::uint32_t>(*extent);
    }
    if (block.count() > kMaxThreadsPerBlock) return std::nullopt;
    return block;
  }

  std::optional<std::array<IntegerExpression, 3>> grid_of(const std::string& text,
                                                          const std::string& block) {
    const std::vector<std::string> axes = axes_of(text, 0);
    if (axes.empty() || axes.size() > 3) return std::nullopt;
    // Where the grid mentions the block's extents it is to follow the block.
    const std::vector<std::string> block_axes = axes_of(block, 0);
    constexpr std::array<std::string_view, 3> kSymbols = {"bx", "by", "bz"};
    constexpr std::array<std::string_view, 3> kMembers = {"x", "y", "z"};
    for (std::size_t axis = 0; axis < block_axes.size() && axis < 3; ++axis) {
      parameter_of_.emplace(block + " . " + std::string(kMembers[axis]), kSymbols[axis]);
      const std::vector<Token> words = tokenize(block_axes[axis]);
      if (words.size() == 1 && words[0].kind == TokenKind::identifier) {
        parameter_of_.emplace(words[0].in(block_axes[axis]), kSymbols[axis]);
      }
    }
    std::array<IntegerExpression, 3> grid = {1, 1, 1};
    const std::optional<Dim3> extents = block_of(block);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      auto expression = expression_of(axes[axis], 0);
      if (!expression) return std::nullopt;
      const std::uint32_t* const extent =
          extents ? std::array{&extents->x, &extents->y, &extents->z}[axis] : nullptr;
      grid[axis] = as_ceil_divide(*expression, std::string(kSymbols[axis]), extent);
    }
    return grid;
  }

  // (n + d - 1) / d -> cdiv(n, d), which steps can reason about; a d that is the block's own extent
  // becomes its symbol, so that the grid follows the block.
  static IntegerExpression as_ceil_divide(const IntegerExpression& expression,
                                          const std::string& symbol, const std::uint32_t* extent) {
    // The canonical text is "(dividend + divisor - 1) / divisor", with the sum done for a number.
    const std::string text = expression.text();
    const std::size_t slash = text.rfind(") / ");
    if (text.front() != '(' || slash == std::string::npos) return expression;
    std::string divisor = text.substr(slash + 4);
    if (divisor.find_first_of(" ()") != std::string::npos) return expression;
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

  [[nodiscard]] std::optional<IntegerExpression> expression_of(const std::string& text,
                                                               int depth) const {
    const auto translated = translate(text, depth);
    if (!translated) return std::nullopt;
    auto expression = IntegerExpression::parse(*translated);
    if (!expression) return std::nullopt;
    return std::move(*expression);
  }

  // C++ to the language of manifests: constants and parameters are put in, integer suffixes and
  // casts left out, shifts of numbers computed. Nothing when a name has no meaning.
  [[nodiscard]] std::optional<std::string> translate(const std::string& text, int depth) const {
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
        if (member) at += 2;
        if (const auto parameter = parameter_of_.find(name); parameter != parameter_of_.end()) {
          result += parameter->second;
          continue;
        }
        const auto definition = definitions_.find(name);
        if (definition == definitions_.end() || definition->second.empty()) return std::nullopt;
        const auto value = translate(definition->second, depth + 1);
        if (!value) return std::nullopt;
        result += "(" + *value + ")";
      } else if (is_cast(text, words, at)) {
        at += 2;
      } else if (std::string_view("+-*/%(),").find(token) != std::string_view::npos) {
        result += token;
      } else {
        return std::nullopt;
      }
    }
    return result;
  }

  static bool is_cast(const std::string& text, const std::vector<Token>& words, std::size_t at) {
    return words[at].in(text) == "(" && at + 2 < words.size() && words[at + 2].in(text) == ")" &&
           words[at + 1].kind == TokenKind::identifier &&
           scalar_type_from_cuda_name(words[at + 1].in(text)).has_value();
  }

  static std::optional<std::int64_t> integer_of(std::string_view text) {
    const bool hexadecimal =
        text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal) text.remove_prefix(2);
    while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
      return std::nullopt;
    return value;
  }

  std::string_view source_;
  const KernelSignature& kernel_;
  const std::string name_;
  std::vector<Token> tokens_;
  std::vector<Function> functions_;
  std::vector<Definition> all_definitions_;
  std::map<std::string, std::string, std::less<>> definitions_;   // empty: not a constant
  std::map<std::string, std::string, std::less<>> parameter_of_;  // host text -> manifest symbol
};

}  // namespace

std::string unqualified_name(const std::string& kernel) {
  const std::size_t qualifier = kernel.rfind("::");
  return qualifier == std::string::npos ? kernel : kernel.substr(qualifier + 2);
}

std::optional<HostLaunch> find_host_launch(std::string_view source, const KernelSignature& kernel) {
  return LaunchFinder(source, kernel).run();
}

std::vector<HostLaunch> find_host_launches(std::string_view source, const KernelSignature& kernel) {
  return LaunchFinder(source, kernel).all();
}

}  // namespace regraph::source
