#include "rewrite/analysis/quantized_product.h"

#include "rewrite/analysis/loop_terms.h"
#include "rewrite/analysis/packed_weight.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/small_tables.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

constexpr int kWeights = QuantizedProduct::kWeights;
constexpr int kLanes = 4;  // that share a row, so groups are multiples of as many words

// An element of an array and where it lies.
struct PlacedElement {
  const Subscript* access = nullptr;
  Polynomial index;
};

struct QuantizedTerm {
  PackedWeight weight;
  Polynomial word;
  std::vector<ExprPtr> others;  // factors
};

class QuantizedProductFinder {
 public:
  QuantizedProductFinder(const KernelAnalysis& kernel, const Launch& launch)
      : places_(kernel, launch, result_) {}

  Result<QuantizedProduct> find() {
    for (const auto step :
         {&QuantizedProductFinder::take_loop, &QuantizedProductFinder::take_terms,
          &QuantizedProductFinder::take_elements, &QuantizedProductFinder::lay_out,
          &QuantizedProductFinder::take_scale, &QuantizedProductFinder::take_start,
          &QuantizedProductFinder::take_behind, &QuantizedProductFinder::drop_values}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return std::move(result_);
  }

 private:
  const Analysis& analysis() const { return result_.form->analysis; }
  const std::string& row() const { return result_.axis.coordinate; }

  Status take_loop() {
    if (Status status = places_.place_threads(); !status) return status;
    const Block& body = result_.form->kernel.body;
    walk(body, [&](const Stmt& stmt) {
      if (result_.loop == nullptr && is<ForLoop>(stmt)) result_.loop = &stmt;
    });
    if (result_.loop == nullptr) return refuse("no loop adds up products of 4-bit weights");
    auto place = place_of_loop(body, *result_.loop, "the loop over words");
    if (!place) return place.error();
    place_ = std::move(*place);
    const auto counted = counted_loop_of(*result_.loop);
    const auto* header = to<ForLoop>(*result_.loop).declaration();
    if (!counted || counted->stride != 1 || !counted->starts_at_zero() || header == nullptr ||
        !header->variable.scalar || size_in_bytes(*header->variable.scalar) != 4)
      return refuse("the loop over words does not count in ones from zero, in 32 bits");
    counter_ = counted->name;
    result_.iterations = places_.inlined(counted->limit);
    if (!places_.is_of_block(result_.iterations))
      return refuse("the length of the loop over words is not the same for all rows");
    return {};
  }

  // What the loop adds up, as weights times other things.
  Status take_terms() {
    auto terms = terms_of_loop(to<ForLoop>(*result_.loop), analysis());
    if (!terms) return terms.error();
    result_.sum = terms->sum;
    for (const Factors& factors : terms->terms) {
      std::optional<QuantizedTerm> term;
      for (std::size_t at = 0; at < factors.size() && !term; ++at) {
        auto weight = packed_weight_of(factors[at]);
        const auto word = weight ? element_of(weight->word) : std::nullopt;
        if (!word) continue;
        term = QuantizedTerm{*weight, word->index, factors};
        term->others.erase(term->others.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (!term) return refuse("the loop adds up other things than products of 4-bit weights");
      terms_.push_back(std::move(*term));
    }
    const QuantizedTerm& first = terms_.front();
    const auto& access = to<Subscript>(first.weight.word);
    result_.weights.array = base_variable(access)->name;
    result_.weights.is_wide = is_wide(access);
    result_.zero = first.weight.zero;
    for (const QuantizedTerm& term : terms_) {
      if (base_variable(*term.weight.word)->name != result_.weights.array ||
          term.weight.zero != result_.zero)
        return refuse("weights are of two arrays, or have two zeros");
    }
    return {};
  }

  static bool is_wide(const Subscript& access) {
    return access.index->type && size_in_bytes(*access.index->type) == 8;
  }

  // An element of an array that is only read, as what it is.
  std::optional<PlacedElement> element_of(const ExprPtr& expr) {
    const auto* access = as<Subscript>(expr);
    const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
    if (base == nullptr || result_.form->kernel.parameter(base->name) == nullptr ||
        analysis().is_written(base->name) || analysis().is_viewed(base->name))
      return std::nullopt;
    const auto index = places_.placed(access->index);
    if (!index) return std::nullopt;
    return PlacedElement{access, *index};
  }

  // The factor that is an element of 16 bits for all rows.
  std::optional<PlacedElement> vector_element(const ExprPtr& factor) {
    const ExprPtr value = widened(factor);
    const ScalarType type = value->type.value_or(ScalarType::f32);
    if (type != ScalarType::f16 && type != ScalarType::bf16) return std::nullopt;
    const auto element = element_of(value);
    return element && !element->index.mentions(row()) ? element : std::nullopt;
  }

  // Takes the vector's elements out of the terms. Others that no row has for itself are the same
  // in all of them.
  Status take_elements() {
    for (QuantizedTerm& term : terms_) {
      std::optional<PlacedElement> found;
      std::size_t place = 0;
      for (std::size_t at = 0; at < term.others.size(); ++at) {
        const auto element = vector_element(term.others[at]);
        if (!element) continue;
        const auto step = element->index.coefficient(counter_);
        const bool is_faster =
            step && (!found || is_smaller(*found->index.coefficient(counter_), *step));
        if (!is_faster) continue;
        found = element;
        place = at;
      }
      if (!found)
        return refuse("weights are not multiplied with elements of a vector of half or bfloat16");
      const std::string& array = base_variable(*found->access)->name;
      if (elements_.empty()) {
        result_.elements.array = array;
        result_.elements.is_wide = is_wide(*found->access);
        result_.element = *found->access->type;
      } else if (array != result_.elements.array) {
        return refuse("weights are multiplied with elements of two arrays");
      }
      elements_.push_back(found->index);
      term.others.erase(term.others.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return {};
  }
  static bool is_smaller(const Polynomial& one, const Polynomial& other) {
    return one.constant().value_or(0) < other.constant().value_or(0);
  }

  // Whether the terms of an iteration are all weights of some words, each once, and elements in
  // their order.
  Status lay_out() {
    const std::string order = "words and the vector's elements do not follow each other evenly";
    if (terms_.size() % kWeights != 0) return refuse(order);
    result_.words = static_cast<int>(terms_.size()) / kWeights;
    result_.weights.index = terms_.front().word;
    result_.elements.index = elements_.front();
    // The first of the iteration.
    for (std::size_t at = 0; at < terms_.size(); ++at) {
      const auto word = (terms_[at].word - result_.weights.index).constant();
      const auto element = (elements_[at] - result_.elements.index).constant();
      if (!word || !element) return refuse(order);
      if (*word < 0) result_.weights.index = terms_[at].word;
      if (*element < 0) result_.elements.index = elements_[at];
    }
    std::vector<bool> seen(terms_.size(), false);
    for (std::size_t at = 0; at < terms_.size(); ++at) {
      const auto word = *(terms_[at].word - result_.weights.index).constant();
      const auto element = *(elements_[at] - result_.elements.index).constant();
      if (element != word * kWeights + terms_[at].weight.nibble ||
          element >= static_cast<std::int64_t>(seen.size()) ||
          seen[static_cast<std::size_t>(element)])
        return refuse(order);
      seen[static_cast<std::size_t>(element)] = true;
    }
    const auto of_words = result_.weights.index.coefficient(counter_);
    const auto of_elements = result_.elements.index.coefficient(counter_);
    if (!of_words || !of_elements || of_words->constant() != result_.words ||
        of_elements->constant() != std::int64_t{kWeights} * result_.words)
      return refuse(order);
    result_.weights.index = result_.weights.index.substitute(counter_, Polynomial());
    result_.elements.index = result_.elements.index.substitute(counter_, Polynomial());
    return {};
  }

  Status take_scale() {
    const std::vector<ExprPtr>& factors = terms_.front().others;
    for (const QuantizedTerm& term : terms_) {
      if (!std::equal(term.others.begin(), term.others.end(), factors.begin(), factors.end(),
                      [](const ExprPtr& one, const ExprPtr& other) { return equal(one, other); }))
        return refuse("what products are multiplied by is not the same for all words of a group");
    }
    for (const ExprPtr& factor : factors) {
      const ExprPtr single = converted(factor, ScalarType::f32);
      result_.scale =
          result_.scale ? with_type(multiply(result_.scale, single), ScalarType::f32) : single;
    }
    if (!result_.scale) return {};
    if (Status status = group_words(); !status) return status;
    return check_names(result_.scale, {result_.group_number}, "what products are multiplied by");
  }

  // How many words have the same scale.
  Status group_words() {
    if (!mentions_counter(result_.scale)) return {};
    if (result_.words % kLanes == 0) {
      result_.group = result_.words;
      result_.group_number = counter_;
      return {};
    }
    result_.group_number = places_.names().fresh("group");
    std::optional<std::int64_t> iterations;
    bool is_even = true;
    result_.scale = rewrite_expr(result_.scale, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto length = iterations_of_quotient(node);
      if (!length) return std::nullopt;
      is_even = is_even && (!iterations || iterations == length);
      iterations = length;
      return source::variable(result_.group_number, node->type);
    });
    constexpr std::int64_t kMost = 1 << 20;
    if (!iterations || !is_even || mentions_counter(result_.scale) || *iterations > kMost ||
        *iterations * result_.words % kLanes != 0)
      return refuse("the scale does not stay the same for a multiple of four words");
    result_.group = static_cast<int>(*iterations) * result_.words;
    return {};
  }

  bool mentions_counter(const ExprPtr& expr) const {
    return any_expression(expr, [&](const Expr& node) { return is_named(node, counter_); });
  }

  // The value of literals, of quotients of them too.
  static std::optional<std::int64_t> number_of(const ExprPtr& expr) {
    const auto* quotient = as_binary(expr, BinaryOperator::divide);
    if (quotient == nullptr) return number_of_literals(expr);
    const auto left = number_of(quotient->left);
    const auto right = number_of(quotient->right);
    return left && right && *left >= 0 && *right > 0 ? std::optional(*left / *right) : std::nullopt;
  }

  // How many iterations follow each other with the same quotient: d of c / d, and of 8 * c / (8 *
  // d).
  std::optional<std::int64_t> iterations_of_quotient(const ExprPtr& expr) {
    const auto* quotient = as_binary(expr, BinaryOperator::divide);
    const auto* shift = as_binary(expr, BinaryOperator::shift_right);
    if (quotient == nullptr && shift == nullptr) return std::nullopt;
    const Binary& operation = quotient != nullptr ? *quotient : *shift;
    const auto dividend = places_.placed(operation.left);
    const auto number = number_of(operation.right);
    const auto slope = dividend ? dividend->coefficient(counter_) : std::nullopt;
    const auto step = slope ? slope->constant() : std::nullopt;
    constexpr std::int64_t kMostBits = 30;
    if (!number || *number <= 0 || (shift != nullptr && *number > kMostBits) || !step || *step <= 0)
      return std::nullopt;
    const auto rest = dividend->substitute(counter_, Polynomial()).constant();
    const std::int64_t divisor = shift != nullptr ? std::int64_t{1} << *number : *number;
    if (!rest || *rest < 0 || *rest >= *step || divisor % *step != 0) return std::nullopt;
    return divisor / *step;
  }

  // The value may mention the row, what is the same for all of them, and these.
  Status check_names(const ExprPtr& value, const std::set<std::string>& known,
                     const std::string& what) const {
    Status status;
    walk(value, [&](const Expr& node) {
      if (is<OpaqueExpression>(node)) status = refuse(what + " is not understood");
      const auto* name = as<VariableReference>(node);
      if (name == nullptr || known.contains(name->name) || name->name == row()) return;
      const KernelParameter* parameter = result_.form->kernel.parameter(name->name);
      if (parameter == nullptr || (parameter->is_pointer && analysis().is_written(name->name)))
        status = refuse(what + " depends on '" + name->name + "'");
    });
    return status;
  }

  // What stands in front of the loop are values, one of which the sum begins with.
  Status take_start() {
    for (const ExprPtr& guard : place_.guards) {
      if (Status status = places_.take_row_guard(guard); !status) return status;
    }
    if (Status status = places_.take_limit_of_grid(); !status) return status;
    Status status;
    walk(place_.before, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr ? !is<Scope>(stmt) : !declaration->variable.extents.empty())
        status = refuse("what stands in front of the loop over words is more than values");
      if (declaration != nullptr && declaration->variable.name == result_.sum)
        result_.start = declaration->value;
    });
    if (!status) return status;
    if (!result_.start) return refuse("where '" + result_.sum + "' begins is not known");
    if (is_zero(result_.start)) {
      result_.start = nullptr;
      return {};
    }
    result_.start = converted(places_.inlined(result_.start), ScalarType::f32);
    return check_names(result_.start, {}, "where the sum begins");
  }

  // What is done with the sum, over names that are declared there.
  Status take_behind() {
    std::set<std::string> kept = declared_names(place_.behind);
    kept.insert(result_.sum);
    const bool is_plain = all_statements(place_.behind, [](const Stmt& stmt) {
      return is<Declaration>(stmt) || is<Assignment>(stmt) || is<Branch>(stmt) || is<Scope>(stmt);
    });
    if (!is_plain) return refuse("what is done with the sum is more than to store it");
    result_.behind = rewrite_expressions(
        place_.behind,
        [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return places_.inlined(expr, kept); });
    const bool is_known = all_expressions(result_.behind, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      return !is<OpaqueExpression>(node) &&
             (name == nullptr || kept.contains(name->name) || name->name == row() ||
              result_.form->kernel.parameter(name->name) != nullptr);
    });
    return is_known ? Status()
                    : refuse("what is done with the sum mentions other values of the thread");
  }

  // Keeps values of the block that something mentions: the others came up on the way.
  Status drop_values() {
    std::vector<Polynomial> used = result_.row_limits;
    used.push_back(result_.weights.index);
    used.push_back(result_.elements.index);
    std::erase_if(result_.values_of_block, [&](const auto& value) {
      return std::none_of(used.begin(), used.end(), [&](const Polynomial& polynomial) {
        return polynomial.mentions(value.first);
      });
    });
    return {};
  }

  QuantizedProduct result_;
  RowPlacer places_;
  LoopPlace place_;
  std::string counter_;
  std::vector<QuantizedTerm> terms_;
  std::vector<Polynomial> elements_;  // of the terms
};

}  // namespace

std::optional<std::set<std::string>> QuantizedProduct::divisible(const QuantizedOperand& operand,
                                                                 int width) const {
  const SymbolFacts facts = {[this](const std::string& symbol) {
                               return form->kernel.parameter(symbol) != nullptr ||
                                      std::any_of(
                                          values_of_block.begin(), values_of_block.end(),
                                          [&](const auto& one) { return one.first == symbol; });
                             },
                             {}};
  std::set<std::string> result;
  return require_divisible(operand.index, width, facts, result) ? std::optional(result)
                                                                : std::nullopt;
}

Result<QuantizedProduct> find_quantized_product(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  return QuantizedProductFinder(kernel, **launch).find();
}

}  // namespace regraph::rewrite
