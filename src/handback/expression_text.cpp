#include "handback/expression_text.h"

#include "kernel/expression_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace regraph::handback {
namespace {

using expression_internal::Kind;
using expression_internal::NodePointer;

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

bool is_name(const std::string& text) {
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

class HostPrinter {
 public:
  explicit HostPrinter(const Meanings& meanings) : meanings_(meanings) {}

  Result<std::string> print(const IntegerExpression::Node& node, bool whole) const {
    if (node.kind == Kind::constant) return std::to_string(node.value);
    if (node.kind == Kind::symbol) return symbol(node.name);
    std::vector<std::string> operands;
    for (const NodePointer& operand : node.operands) {
      auto text = print(*operand, false);
      if (!text) return text;
      operands.push_back(std::move(*text));
    }
    std::string text = joined(node, operands);
    return whole ? text : "(" + text + ")";
  }

 private:
  [[nodiscard]] Result<std::string> symbol(const std::string& name) const {
    const auto meaning = meanings_.find(name);
    if (meaning == meanings_.end()) {
      return fail(ErrorCode::not_found,
                  fmt::format("nothing at the launch says what '{}' is", name));
    }
    if (is_number(meaning->second)) return meaning->second;
    return is_name(meaning->second) ? "(long long)" + meaning->second
                                    : "(long long)(" + meaning->second + ")";
  }

  static std::string joined(const IntegerExpression::Node& node,
                            const std::vector<std::string>& operands) {
    const std::string& a = operands.front();
    const std::string& b = operands.back();
    switch (node.kind) {
      case Kind::ceiling: {
        const NodePointer& divisor = node.operands.back();
        if (divisor->kind == Kind::constant)
          return fmt::format("({} + {}) / {}", a, divisor->value - 1, b);
        return fmt::format("({} + {} - 1) / {}", a, b, b);
      }
      case Kind::minimum:
        return fmt::format("{} < {} ? {} : {}", a, b, a, b);
      case Kind::maximum:
        return fmt::format("{} > {} ? {} : {}", a, b, a, b);
      default:
        return fmt::format("{}", fmt::join(operands, sign(node.kind)));
    }
  }

  static const char* sign(Kind kind) {
    switch (kind) {
      case Kind::sum:
        return " + ";
      case Kind::product:
        return " * ";
      case Kind::difference:
        return " - ";
      case Kind::quotient:
        return " / ";
      default:
        return " % ";
    }
  }

  const Meanings& meanings_;
};

}  // namespace

Result<std::string> host_text(const IntegerExpression& expression, const Meanings& meanings) {
  auto tree = expression_internal::parse(expression.text());
  if (!tree) return tree.error();
  return HostPrinter(meanings).print(**tree, true);
}

}  // namespace regraph::handback
