#include "source/host_launch.h"

#include "source/host_names.h"
#include "source/template_instance.h"
#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

// Constants are followed through other constants this deep: no cycle can hang the search.
constexpr int kDeepestConstant = 8;

class LaunchFinder {
 public:
  LaunchFinder(std::string_view source, const KernelSignature& kernel)
      : source_(source),
        kernel_(kernel),
        name_(unqualified_name(kernel.name)),
        tokens_(tokenize(source)),
        names_(source, tokens_) {}

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

  // In the file that it comes from, where headers were put in.
  [[nodiscard]] int line_in_file(std::size_t token) const {
    const int line = static_cast<int>(tokens_[token].line);
    for (std::size_t at = token; at-- > 0;) {
      if (tokens_[at].kind != TokenKind::directive || directive_name(word(at)) != "line") continue;
      const std::string_view text = word(at);
      const std::size_t digits = text.find_first_of("0123456789");
      int said = 0;
      if (digits == std::string_view::npos ||
          std::from_chars(text.data() + digits, text.data() + text.size(), said).ec != std::errc())
        break;
      return said + line - static_cast<int>(tokens_[at].line) - 1;
    }
    return line;
  }

  [[nodiscard]] std::vector<std::string> template_arguments_before(std::size_t launch) const {
    if (word(launch - 1) != ">") return {};
    std::size_t open = launch - 1;
    for (int angles = 0; open > 0; --open) {
      if (word(open) == ">") ++angles;
      if (word(open) == "<" && --angles == 0) break;
    }
    return template_arguments(source_, tokens_, open);
  }

  [[nodiscard]] std::vector<std::string> split(std::size_t first, std::size_t last) const {
    std::vector<std::string> parts;
    std::size_t begin = first;
    for (std::size_t at = first; at < last; ++at) {
      if (word(at) == "(" || word(at) == "{" || word(at) == "[") {
        at = after_bracket(source_, tokens_, at) - 1;
      } else if (word(at) == ",") {
        parts.push_back(names_.join(begin, at));
        begin = at + 1;
      }
    }
    if (begin < last) parts.push_back(names_.join(begin, last));
    return parts;
  }

  HostLaunch read(std::size_t launch) {
    definitions_ = names_.seen_from(launch);
    HostLaunch found;
    found.line = line_in_file(launch);
    found.begin = tokens_[launch].begin;
    std::size_t close = launch + 1;
    while (close < tokens_.size() && word(close) != ">>>")
      ++close;
    const std::vector<std::string> shape = split(launch + 1, close);
    found.shape = names_.join(launch + 1, close);
    found.template_arguments = template_arguments_before(launch);
    if (word(close + 1) == "(") read_arguments(close + 1, found);
    if (shape.size() >= 2) {
      found.block = block_of(shape[1]);
      found.grid = grid_of(shape[0], shape[1]);
      if (!found.grid) read_open_grid(shape[0], shape[1], found);
    }
    if (shape.size() >= 3) {
      found.dynamic_shared_bytes = expression_of(shape[2], 0);
      if (!found.dynamic_shared_bytes) read_open_shared_bytes(shape[2], found);
    }
    return found;
  }

  // The grid with variables of the host as sizes.
  void read_open_grid(const std::string& grid, const std::string& block, HostLaunch& found) {
    std::set<std::string> names;
    host_sizes_ = &names;
    found.open_grid = grid_of(grid, block);
    host_sizes_ = nullptr;
    if (!found.open_grid) return;
    std::set<std::string> used;
    for (const IntegerExpression& extent : *found.open_grid)
      used.merge(extent.symbols());
    for (const std::string& name : names) {
      if (used.contains(name)) found.host_sizes.push_back(name);
    }
  }

  void read_open_shared_bytes(const std::string& bytes, HostLaunch& found) {
    std::set<std::string> names;
    host_sizes_ = &names;
    found.dynamic_shared_bytes = expression_of(bytes, 0);
    host_sizes_ = nullptr;
    for (const std::string& name : names) {
      if (std::ranges::find(found.host_sizes, name) == found.host_sizes.end())
        found.host_sizes.push_back(name);
    }
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
        if (const std::size_t after = rounded_up_quotient(text, words, at, depth, result)) {
          at = after - 1;
          continue;
        }
        const auto definition = definitions_.find(name);
        const bool defined = definition != definitions_.end() && !definition->second.empty();
        const auto value = defined ? translate(definition->second, depth + 1) : std::nullopt;
        if (value) {
          result += "(" + *value + ")";
        } else if (const auto size = as_host_size(text, words, at, name)) {
          result += *size;
        } else {
          return std::nullopt;
        }
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

  // A variable of the host whose value is not known, as a size, where such are allowed.
  [[nodiscard]] std::optional<std::string> as_host_size(const std::string& text,
                                                        const std::vector<Token>& words,
                                                        std::size_t at, std::string name) const {
    if (host_sizes_ == nullptr) return std::nullopt;
    const std::string_view next = at + 1 < words.size() ? words[at + 1].in(text) : "";
    if (next == "(" || next == "[" || next == "<" || next == "::" || next == "->" || next == ".")
      return std::nullopt;
    if (const std::size_t dot = name.find(" . "); dot != std::string::npos)
      name.replace(dot, 3, "_");
    if (name == "bx" || name == "by" || name == "bz") return std::nullopt;
    const bool taken = std::ranges::any_of(
        kernel_.parameters, [&](const Parameter& parameter) { return parameter.name == name; });
    if (taken) name = "host_" + name;
    host_sizes_->insert(name);
    return name;
  }

  // "ceil((float)n / 256.0)" at a token: adds "cdiv(n, 256)" and returns the token behind; else 0.
  [[nodiscard]] std::size_t rounded_up_quotient(const std::string& text,
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

  static bool is_cast(const std::string& text, const std::vector<Token>& words, std::size_t at) {
    return words[at].in(text) == "(" && at + 2 < words.size() && words[at + 2].in(text) == ")" &&
           words[at + 1].kind == TokenKind::identifier &&
           scalar_type_from_cuda_name(words[at + 1].in(text)).has_value();
  }

  static std::optional<std::int64_t> integer_of(std::string_view text) {
    const bool hexadecimal =
        text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
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
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
      return std::nullopt;
    return value;
  }

  std::string_view source_;
  const KernelSignature& kernel_;
  const std::string name_;
  std::vector<Token> tokens_;
  const HostNames names_;
  HostNames::Definitions definitions_;                            // as the launch sees them
  std::map<std::string, std::string, std::less<>> parameter_of_;  // host text -> manifest symbol
  std::set<std::string>* host_sizes_ = nullptr;  // null: variables of the host are not sizes
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
