#include "affine/size_expression.h"

#include "affine/block_geometry.h"
#include "affine/refusal.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::affine {

namespace {

constexpr std::size_t kMostDigits = 9;  // fits an int

// Reads IntegerExpression's canonical text, which is well formed.
class Reader {
 public:
  // Null launch: sizes are parameters alone.
  Reader(std::string_view text, const Kernel& kernel, const Analysis& analysis, bool wide,
         const Launch* launch)
      : text_(text), kernel_(kernel), analysis_(analysis), wide_(wide), launch_(launch) {}

  ExprPtr read() {
    ExprPtr result = sum();
    return position_ == text_.size() ? result : nullptr;
  }

 private:
  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] == ' ')
      ++position_;
  }

  // The next character if it is one of `characters`, else 0.
  char accept(std::string_view characters) {
    skip_blanks();
    if (position_ >= text_.size() || characters.find(text_[position_]) == std::string_view::npos)
      return 0;
    return text_[position_++];
  }

  ExprPtr sum() {
    ExprPtr result = product();
    while (const char op = accept("+-")) {
      const ExprPtr right = product();
      if (!result || !right) return nullptr;
      result = source::binary(*binary_operator(std::string_view(&op, 1)), result, right);
    }
    return result;
  }

  ExprPtr product() {
    ExprPtr result = atom();
    while (const char op = accept("*/%")) {
      const ExprPtr right = atom();
      if (!result || !right) return nullptr;
      result = source::binary(*binary_operator(std::string_view(&op, 1)), result, right);
    }
    return result;
  }

  ExprPtr atom() {
    if (accept("(") != 0) {
      ExprPtr result = sum();
      return accept(")") != 0 ? result : nullptr;
    }
    if (accept("-") != 0) {
      const ExprPtr operand = atom();
      return operand ? unary(UnaryOperator::minus, operand) : nullptr;
    }
    skip_blanks();
    const std::size_t first = position_;
    while (
        position_ < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_')) {
      ++position_;
    }
    const std::string word(text_.substr(first, position_ - first));
    if (word.empty()) return nullptr;
    if (std::isdigit(static_cast<unsigned char>(word.front()))) {
      return word.size() <= kMostDigits ? integer(std::stoll(word)) : nullptr;
    }
    return accept("(") != 0 ? function(word) : parameter(word);
  }

  ExprPtr function(const std::string& name) {
    const ExprPtr a = sum();
    if (!a || accept(",") == 0) return nullptr;
    const ExprPtr b = sum();
    if (!b || accept(")") == 0) return nullptr;
    if (name == "min" || name == "max") return call(name, {in_common_type(a), in_common_type(b)});
    if (name != "cdiv") return nullptr;
    return source::divide(source::add(a, subtract(b, integer(1))), b);
  }

  // min and max take two of one type.
  ExprPtr in_common_type(const ExprPtr& value) const {
    const ScalarType type = wide_ ? ScalarType::i64 : ScalarType::i32;
    return value->type == type ? value : source::cast(wide_ ? "long long" : "int", value);
  }

  ExprPtr parameter(const std::string& name) const {
    const KernelParameter* found = kernel_.parameter(name);
    const bool usable = found != nullptr && !found->is_pointer && found->scalar &&
                        !is_floating(*found->scalar) && analysis_.meaning()(name).has_value();
    if (!usable) return found == nullptr ? grid_extent_of(name) : nullptr;
    const ExprPtr value = source::variable(name, found->scalar);
    return wide_ ? source::cast("long long", value) : value;
  }

  ExprPtr grid_extent_of(const std::string& name) const {
    for (std::size_t axis = 0; launch_ != nullptr && axis < kAxes.size(); ++axis) {
      if (launch_->grid[axis] == IntegerExpression::symbol(name)) {
        return source::cast(wide_ ? "long long" : "int",
                            builtin("gridDim." + std::string(kAxes[axis])));
      }
    }
    return nullptr;
  }

  std::string_view text_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  bool wide_;
  const Launch* launch_;
  std::size_t position_ = 0;
};

// A value of sizes as an expression's text; nothing where it is made of anything else.
std::optional<std::string> text_of(const ExprPtr& value, const Problem& problem,
                                   const Analysis& analysis) {
  if (const auto* literal = as<IntegerLiteral>(value)) return std::to_string(literal->value);
  if (const auto* cast = as<Cast>(value)) return text_of(cast->operand, problem, analysis);
  if (const auto* variable = as<VariableReference>(value)) {
    if (problem.sizes.contains(variable->name)) return variable->name;
    const ExprPtr definition = analysis.definition(variable->name);
    return definition ? text_of(definition, problem, analysis) : std::nullopt;
  }
  const auto* binary = as<Binary>(value);
  if (binary == nullptr) return std::nullopt;
  const bool is_known = binary->op == BinaryOperator::add ||
                        binary->op == BinaryOperator::multiply ||
                        binary->op == BinaryOperator::divide;
  const auto left = is_known ? text_of(binary->left, problem, analysis) : std::nullopt;
  const auto right = left ? text_of(binary->right, problem, analysis) : std::nullopt;
  if (!right) return std::nullopt;
  return "(" + *left + " " + std::string(spelling(binary->op)) + " " + *right + ")";
}

// The polynomial by what `size` says of its symbols.
template <typename Size>
std::optional<IntegerExpression> sum_of(const Polynomial& polynomial, const Size& size) {
  IntegerExpression sum = 0;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    IntegerExpression term = factor;
    for (const std::string& name : monomial) {
      const std::optional<IntegerExpression> part = size(name);
      if (!part) return std::nullopt;
      term = factor == 1 && &name == &monomial.front() ? *part
                                                       : IntegerExpression::multiply(term, *part);
    }
    sum = sum == IntegerExpression(0) ? term : IntegerExpression::add(sum, term);
  }
  return sum;
}

bool fits_32_bits(const IntegerExpression& value, const Problem& problem) {
  for (const Symbols& symbols : all_sizes(problem)) {
    const auto number = value.evaluate(symbols);
    if (!number || *number > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

}  // namespace

ExprPtr size_in_kernel(const IntegerExpression& size, const Kernel& kernel,
                       const Analysis& analysis, bool wide) {
  const std::string text = size.text();
  return Reader(text, kernel, analysis, wide, nullptr).read();
}

Result<ExprPtr> buffer_length(const std::string& buffer, const Problem& problem,
                              const Launch* launch, const Kernel& kernel, const Analysis& analysis,
                              bool wide) {
  const auto argument = std::find_if(problem.arguments.begin(), problem.arguments.end(),
                                     [&](const Argument& one) { return one.name == buffer; });
  if (argument == problem.arguments.end()) return refuse("its length is not known");
  IntegerExpression count(1);
  for (const IntegerExpression& extent : argument->shape)
    count = IntegerExpression::multiply(count, extent);
  const std::string text = count.text();
  ExprPtr length = Reader(text, kernel, analysis, wide, launch).read();
  if (!length) return refuse("its length " + text + " is not made of the kernel's parameters");
  return length;
}

std::optional<IntegerExpression> size_of(const Polynomial& polynomial, const Problem& problem) {
  return sum_of(polynomial, [&](const std::string& name) -> std::optional<IntegerExpression> {
    if (!problem.sizes.contains(name)) return std::nullopt;
    return IntegerExpression::symbol(name);
  });
}

std::optional<IntegerExpression> size_of(const Polynomial& polynomial, const Problem& problem,
                                         const Analysis& analysis) {
  return sum_of(polynomial, [&](const std::string& name) -> std::optional<IntegerExpression> {
    if (problem.sizes.contains(name)) return IntegerExpression::symbol(name);
    if (!names_size(name, analysis)) return std::nullopt;
    const auto text = text_of(analysis.definition(name), problem, analysis);
    if (!text) return std::nullopt;
    const auto value = IntegerExpression::parse(*text);
    return value ? std::optional(*value) : std::nullopt;
  });
}

bool names_size(const std::string& symbol, const Analysis& analysis) {
  return analysis.definition(symbol) != nullptr &&
         analysis.meaning()(symbol) == Polynomial::symbol(symbol);
}

ExprPtr with_size_names(const ExprPtr& value, const Kernel& kernel, const Analysis& analysis) {
  if (analysis.polynomial(value)) return value;
  return rewrite_expr(value, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
    for (const StmtPtr& stmt : kernel.body) {
      const auto* named = as<Declaration>(stmt);
      const bool is_it = named != nullptr && named->value && equal(named->value, part) &&
                         analysis.meaning()(named->variable.name);
      if (is_it) return source::variable(named->variable.name, named->variable.scalar);
    }
    return std::nullopt;
  });
}

bool is_of_parameters(const Polynomial& polynomial, const Kernel& kernel) {
  const std::set<std::string> symbols = polynomial.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& name) {
    const KernelParameter* parameter = kernel.parameter(name);
    return parameter != nullptr && !parameter->is_pointer;
  });
}

std::optional<IntegerExpression> dividend_of(const IntegerExpression& quotient,
                                             const IntegerExpression& divisor) {
  const std::string text = quotient.text();
  // What stands between; not the end of something else.
  const auto between = [&](const std::string& begin, const std::string& end,
                           const auto& again) -> std::optional<IntegerExpression> {
    if (!text.starts_with(begin) || !text.ends_with(end)) return std::nullopt;
    const auto dividend = IntegerExpression::parse(
        text.substr(begin.size(), text.size() - begin.size() - end.size()));
    return dividend && again(*dividend) == text ? std::optional(*dividend) : std::nullopt;
  };
  const auto rounded_up = [&](const IntegerExpression& dividend) {
    return IntegerExpression::ceil_divide(dividend, divisor).text();
  };
  if (auto dividend = between("cdiv(", ", " + divisor.text() + ")", rounded_up)) return dividend;
  const auto number = divisor.evaluate({});
  if (!number || *number < 1) return std::nullopt;
  const std::string end = " + " + std::to_string(*number - 1) + ") / " + divisor.text();
  return between("(", end, [&](const IntegerExpression& dividend) {
    const auto whole = IntegerExpression::parse("(" + dividend.text() + end);
    return whole ? whole->text() : "";
  });
}

std::vector<std::reference_wrapper<const Symbols>> all_sizes(const Problem& problem) {
  std::vector<std::reference_wrapper<const Symbols>> result(problem.tests.begin(),
                                                            problem.tests.end());
  result.insert(result.end(), problem.bench.begin(), problem.bench.end());
  return result;
}

IntegerExpression at_least_one(const IntegerExpression& number) {
  auto result = IntegerExpression::parse("max(1, " + number.text() + ")");
  return result ? std::move(*result) : number;
}

bool fits_32_bits(const Polynomial& value, const Problem& problem) {
  const auto expression = size_of(value, problem);
  return expression && fits_32_bits(*expression, problem);
}

bool fits_32_bits(const Polynomial& value, const Problem& problem, const Analysis& analysis) {
  const auto expression = size_of(value, problem, analysis);
  return expression && fits_32_bits(*expression, problem);
}

}  // namespace regraph::affine
