// The key `init` of an argument, and values of scalars.
#include "kernel/manifest_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace regraph::manifest_internal {

namespace {

using InitKind = BufferInit::Kind;

constexpr std::string_view kForms =
    "expected normal, iota, zeros, ones, permutation, \"constant(value)\", \"uniform(low,high)\", "
    "\"int(low,high)\", \"csr_offsets(entries)\", \"csr_columns(columns)\", a file.npy or {file: "
    "data.bin}";
constexpr std::size_t kHashDigits = 32;

// The parts of "name(first, second)"; name alone where there are no parentheses.
struct Call {
  std::string_view name;
  std::vector<std::string_view> parts = {};
};

std::optional<Call> read_call(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return Call{text};
  if (text.back() != ')') return std::nullopt;
  Call call{trim(text.substr(0, open))};
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    if (i == inside.size() || (inside[i] == ',' && depth == 0)) {
      call.parts.push_back(trim(inside.substr(begin, i - begin)));
      begin = i + 1;
    } else if (inside[i] == '(') {
      ++depth;
    } else if (inside[i] == ')' && --depth < 0) {
      return std::nullopt;
    }
  }
  return call;
}

// "bx" and its like: contents and values are the same for every block.
bool follows_the_block(const IntegerExpression& expression) {
  const std::set<std::string> symbols = expression.symbols();
  return std::ranges::any_of(std::array{"bx", "by", "bz"},
                             [&](const char* name) { return symbols.contains(name); });
}

Result<BufferInit> read_range(const YAML::Node& node, const Place& place, InitKind kind,
                              const Call& call) {
  BufferInit init{kind};
  if (kind == InitKind::uniform) {
    const std::optional<double> low = parse_double(call.parts[0]);
    const std::optional<double> high = parse_double(call.parts[1]);
    if (!low || !high || !std::isfinite(*low) || !std::isfinite(*high))
      return place.error(node, "uniform(low,high) takes two numbers");
    init.low = *low;
    init.high = *high;
    if (init.low > init.high) return place.error(node, "low is greater than high");
    return init;
  }
  for (const bool upper : {false, true}) {
    const std::string_view text = call.parts[upper ? 1 : 0];
    double& number = upper ? init.high : init.low;
    if (const std::optional<double> value = parse_double(text)) {
      if (!std::isfinite(*value) || std::floor(*value) != *value ||
          std::abs(*value) > kLargestExactInteger) {
        return place.error(node, "int(low,high) takes integers of at most 2^53");
      }
      number = *value;
      continue;
    }
    Result<IntegerExpression> expression = read_expression(YAML::Node(std::string(text)), place);
    if (!expression.ok() || follows_the_block(*expression)) {
      return place.error(node, fmt::format("int(low,high) takes integers and expressions of sizes, "
                                           "found {}",
                                           shown_text(text)));
    }
    (upper ? init.high_expression : init.low_expression) = std::move(*expression);
  }
  if (!init.low_expression && !init.high_expression && init.low > init.high)
    return place.error(node, "low is greater than high");
  return init;
}

// csr_offsets(entries), csr_columns(columns)
Result<BufferInit> read_csr(const YAML::Node& node, const Place& place, InitKind kind,
                            const Call& call) {
  BufferInit init{kind};
  Result<IntegerExpression> expression = IntegerExpression::parse(call.parts.front());
  if (!expression.ok() || follows_the_block(*expression)) {
    return place.error(node, fmt::format("{} takes an expression of sizes, found {}", call.name,
                                         shown_text(call.parts.front())));
  }
  init.high_expression = std::move(*expression);
  return init;
}

Result<BufferInit> read_constant(const YAML::Node& node, const Place& place, const Call& call) {
  const std::optional<double> value = parse_double(call.parts.front());
  if (!value)
    return place.error(node,
                       "constant(value) takes a number, found " + shown_text(call.parts.front()));
  return BufferInit{InitKind::constant, *value};
}

// {file: data.bin}; runs add the hash of what it held.
Result<BufferInit> read_file_init(const YAML::Node& node, const Place& place) {
  if (Status keys = check_keys(node, place, {"file", "hash"}); !keys.ok()) return keys.error();
  if (!node["file"]) return place.error(node, "'file' is missing: " + std::string(kForms));
  BufferInit init{InitKind::file};
  if (Status file = store(read_text(node["file"], place.at("file")), init.content.file); !file.ok())
    return file.error();
  if (!node["hash"]) return init;
  if (Status hash = store(read_text(node["hash"], place.at("hash")), init.hash); !hash.ok())
    return hash.error();
  if (init.hash.size() == kHashDigits &&
      init.hash.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return init;
  }
  return place.error(node, "'hash' is not 32 hexadecimal digits; leave it out");
}

}  // namespace

Result<BufferInit> read_init(const YAML::Node& node, const Place& place) {
  if (node.IsMap()) return read_file_init(node, place);
  if (!node.IsScalar()) return place.error(node, kForms);
  const std::string_view text = trim(node.Scalar());
  if (text.size() > 4 && text.substr(text.size() - 4) == ".npy") {
    BufferInit init{InitKind::file};
    init.content.file = std::string(text);
    return init;
  }
  if (const std::optional<Call> call = read_call(text)) {
    const auto is = [&](std::string_view name, std::size_t parts) {
      return call->name == name && call->parts.size() == parts;
    };
    if (is("normal", 0)) return BufferInit{};
    if (is("iota", 0)) return BufferInit{InitKind::iota};
    if (is("zeros", 0)) return BufferInit{InitKind::constant, 0.0};
    if (is("ones", 0)) return BufferInit{InitKind::constant, 1.0};
    if (is("permutation", 0)) return BufferInit{InitKind::permutation};
    if (is("constant", 1)) return read_constant(node, place, *call);
    if (is("uniform", 2)) return read_range(node, place, InitKind::uniform, *call);
    if (is("int", 2)) return read_range(node, place, InitKind::integers, *call);
    if (is("csr_offsets", 1)) return read_csr(node, place, InitKind::csr_offsets, *call);
    if (is("csr_columns", 1)) return read_csr(node, place, InitKind::csr_columns, *call);
  }
  return place.error(node, fmt::format("{}, found {}{}", kForms, shown_text(text),
                                       looks_cut_at_comma(text) ? kQuoteHint : ""));
}

Result<ScalarValue> read_value(const YAML::Node& node, const Place& place) {
  const Result<double> number = read_number(node, place);
  if (number.ok() && !(std::abs(*number) >= kLargestExactInteger)) return ScalarValue(*number);
  const bool is_text = node.IsScalar() && !node.Scalar().empty();
  Result<IntegerExpression> expression =
      is_text ? IntegerExpression::parse(node.Scalar()) : place.error(node, "expected a number");
  if (!expression.ok()) {
    if (number.ok()) return ScalarValue(*number);
    if (!is_text) return place.error(node, "expected a number or an expression of sizes");
    return place.error(node, fmt::format("expected a number or an expression of sizes, found {}: "
                                         "{}{}",
                                         shown_text(node.Scalar()), expression.error().message,
                                         looks_cut_at_comma(node.Scalar()) ? kQuoteHint : ""));
  }
  if (follows_the_block(*expression)) {
    return place.error(node, fmt::format("{}: a value may follow sizes, not the block (bx, by, bz)",
                                         shown_text(node.Scalar())));
  }
  return ScalarValue(std::move(*expression));
}

}  // namespace regraph::manifest_internal
