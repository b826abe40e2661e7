#include "rewrite/analysis/attention_pattern.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "rewrite/analysis/attention_loop.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr int kVectorBytes = 16;

class AttentionFinder {
 public:
  AttentionFinder(const KernelAnalysis& kernel, const Launch& launch)
      : kernel_(kernel), places_(kernel, launch, result_) {}

  Result<AttentionPattern> find() {
    for (const auto step : {&AttentionFinder::place_threads, &AttentionFinder::take_loop,
                            &AttentionFinder::place_rows, &AttentionFinder::place_keys,
                            &AttentionFinder::take_behind}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return std::move(result_);
  }

 private:
  const Analysis& analysis() const { return result_.form->analysis; }

  Status place_threads() {
    if (Status status = places_.place_threads(); !status) return status;
    result_.dot = places_.names().fresh("dot");
    return {};
  }
  Status take_loop() {
    auto loop = find_attention_loop(*result_.form, result_.dot);
    if (!loop) return loop.error();
    loop_ = std::move(*loop);
    result_.loop = loop_.loop;
    result_.key = loop_.counted.name;
    result_.score = loop_.score;
    result_.first_score_spoils = loop_.first_score_spoils;
    result_.maximum = loop_.maximum;
    result_.maximum_at_first = loop_.maximum_at_first;
    result_.sums = loop_.sums;
    result_.mix = loop_.mix;
    result_.behind = loop_.behind;
    return {};
  }

  ExprPtr inlined(const ExprPtr& expr, const std::set<std::string>& kept = {}) const {
    return places_.inlined(expr, kept);
  }
  std::optional<Polynomial> placed(const ExprPtr& expr) { return places_.placed(expr); }

  // A row of the element's array, whose elements `counter` counts.
  Result<AttentionRows> rows_of(const ExprPtr& element, const std::string& counter,
                                std::int64_t elements) {
    const auto& access = to<Subscript>(element);
    AttentionRows rows;
    rows.array = base_variable(access)->name;
    const ScalarType type = *result_.form->kernel.parameter(rows.array)->scalar;
    if (analysis().is_written(rows.array) || analysis().is_viewed(rows.array))
      return refuse("'" + rows.array + "' is written in the kernel, or read as another type");
    rows.is_wide = access.index->type && size_in_bytes(*access.index->type) == 8;
    const auto index = indices_of(access).size() == 1 ? placed(access.index) : std::nullopt;
    const auto step = index ? index->coefficient(counter) : std::nullopt;
    if (!step || step->constant() != 1)
      return refuse("the index of '" + rows.array + "' is not one of neighbours in a row");
    rows.index = index->substitute(counter, Polynomial());
    rows.elements = static_cast<int>(elements);
    for (const std::string& symbol : {result_.axis.coordinate, result_.key}) {
      const auto along = rows.index.coefficient(symbol);
      if (!along || along->mentions(result_.axis.coordinate) || along->mentions(result_.key))
        return refuse("rows of '" + rows.array + "' are not evenly apart");
    }
    constexpr int kStep = 16;
    constexpr int kMost = 256;
    if (elements % kStep != 0 || elements > kMost)
      return refuse("rows of '" + rows.array + "' have " + std::to_string(elements) +
                    " elements: tensor cores take multiples of 16 up to 256");
    if (element_type_ && *element_type_ != type)
      return refuse("queries, keys and values are of two types");
    element_type_ = type;
    result_.element = type;
    std::set<std::string> divisible;
    if (kernel_.problem().assume.align >= kVectorBytes &&
        require_divisible(rows.index, kVectorBytes / 2, facts_of(result_.form->kernel), divisible))
      rows.divisible = std::move(divisible);
    return rows;
  }

  Status place_rows() {
    for (const ExprPtr& element : loop_.elements) {
      auto rows = rows_of(element, loop_.element_counter, loop_.element_count);
      if (!rows) return rows.error();
      const bool is_key = rows->index.mentions(result_.key);
      if (is_key == rows->index.mentions(result_.axis.coordinate))
        return refuse("'" + rows->array + "' is read neither by queries alone nor by keys alone");
      (is_key ? result_.keys : result_.query) = std::move(*rows);
    }
    if (result_.keys.array.empty() || result_.query.array.empty())
      return refuse("the scores are no products of a row of queries and one of keys");
    auto values = rows_of(inlined(loop_.value), loop_.value_counter, result_.mix.extents[0]);
    if (!values) return values.error();
    result_.values = std::move(*values);
    if (!result_.values.index.mentions(result_.key) ||
        result_.values.index.mentions(result_.axis.coordinate))
      return refuse("'" + result_.values.array + "' is not read by keys alone");
    for (const ExprPtr& guard : loop_.row_guards) {
      if (Status status = places_.take_row_guard(guard); !status) return status;
    }
    return places_.take_limit_of_grid();
  }

  Status place_keys() {
    for (const auto& [bound, is_upper] :
         {std::pair(loop_.counted.first, false), std::pair(loop_.counted.limit, true)}) {
      for (const ExprPtr& part : parts_of_bound(inlined(bound), is_upper)) {
        const auto value = placed(part);
        if (!value) return refuse("a bound of the keys is not a known expression");
        if (Status status = add_bound(*value, is_upper); !status) return status;
      }
    }
    for (const ExprPtr& condition : loop_.key_conditions) {
      if (Status status = add_condition(condition); !status) return status;
    }
    result_.score = inlined(result_.score);
    if (Status status = take_masks(); !status) return status;
    result_.score = places_.with_values_of_block(result_.score);
    if (Status status = check_bounds(); !status) return status;
    return check_score();
  }

  // min(a, b) bounds from above like both.
  std::vector<ExprPtr> parts_of_bound(const ExprPtr& bound, bool is_upper) const {
    const auto* call = as<Call>(bound);
    const bool is_extremum = call != nullptr && call->arguments.size() == 2 &&
                             call->function == (is_upper ? "min" : "max");
    if (const auto* choice = as<Conditional>(bound)) {
      // a < b ? a : b
      const auto* asked = as<Binary>(choice->condition);
      const bool orders =
          asked != nullptr &&
          ((asked->op == BinaryOperator::less || asked->op == BinaryOperator::less_equal));
      const bool is_least =
          orders && equal(asked->left, choice->then) && equal(asked->right, choice->otherwise);
      const bool is_largest =
          orders && equal(asked->right, choice->then) && equal(asked->left, choice->otherwise);
      if (is_upper ? is_least : is_largest) return {choice->then, choice->otherwise};
    }
    if (!is_extremum) return {bound};
    return {call->arguments[0], call->arguments[1]};
  }

  Status add_bound(const Polynomial& value, bool is_upper) {
    const auto slope = value.coefficient(result_.axis.coordinate);
    if (!slope || !slope->constant() || value.mentions(result_.key))
      return refuse("a bound of the keys does not follow the rows evenly");
    (is_upper ? result_.uppers : result_.lowers).push_back(value);
    return {};
  }

  static bool has_negative_term(const Polynomial& side) {
    return std::any_of(side.terms().begin(), side.terms().end(),
                       [](const auto& term) { return term.second < 0; });
  }

  Status add_condition(const ExprPtr& condition) {
    const Polynomial key = Polynomial::symbol(result_.key);
    const auto slack = slack_of(condition, [&](const ExprPtr& side) { return placed(side); });
    const auto along = slack ? slack->coefficient(result_.key) : std::nullopt;
    const auto slope = slack ? slack->coefficient(result_.axis.coordinate) : std::nullopt;
    if (!along || !slope || !slope->constant() || !along->constant())
      return refuse("a condition on keys is no comparison of known expressions");
    if (compares_unsigned(condition)) {
      const auto& comparison = to<Binary>(condition);
      const auto left = placed(comparison.left);
      const auto right = placed(comparison.right);
      if (!left || !right || has_negative_term(*left) || has_negative_term(*right))
        return refuse("a condition on keys compares without signs what may be negative");
    }
    if (along->constant() == -1) return add_bound(*slack + key + Polynomial(1), true);
    if (along->constant() == 1) return add_bound(key - *slack, false);
    if (slope->constant() != 0) return refuse("a condition on keys is no bound of those of a row");
    result_.others.push_back(TileGuard::not_negative(*slack));
    return {};
  }

  // The keys of a block's rows have to follow each other: all between the first and the last are
  // read by one of them.
  Status check_bounds() const {
    const auto slope = [&](const Polynomial& bound) {
      return *bound.coefficient(result_.axis.coordinate)->constant();
    };
    for (const auto* bounds : {&result_.uppers, &result_.lowers}) {
      bool grows = false;
      bool shrinks = false;
      for (const Polynomial& bound : *bounds)
        (slope(bound) < 0 ? shrinks : grows) |= slope(bound) != 0;
      if (grows && shrinks) return refuse("bounds of the keys go different ways along the rows");
    }
    for (const Polynomial& upper : result_.uppers) {
      for (const Polynomial& lower : result_.lowers) {
        if (slope(upper) != 0 && slope(lower) != 0 &&
            (slope(upper) != slope(lower) || std::abs(slope(upper)) != 1))
          return refuse("bounds of the keys go different ways along the rows");
      }
    }
    return {};
  }

  // Scores that are minus infinity under a condition, as conditions on keys. What is weighted by
  // zero, the original multiplies; that it is finite has to be granted.
  Status take_masks() {
    while (kernel_.problem().assume.finite) {
      const auto* choice = as<Conditional>(result_.score);
      if (choice == nullptr) break;
      const bool masks_else = is_minus_infinity(choice->otherwise);
      if (!masks_else && !is_minus_infinity(choice->then)) break;
      const auto terms = conjuncts(masks_else ? choice->condition : negate(choice->condition));
      const AttentionPattern before = result_;
      Status status;
      for (const ExprPtr& term : terms) {
        if (status) status = add_condition(term);
      }
      // The first score would spoil the sums where a row's first keys are masked.
      const bool begins_later =
          result_.first_score_spoils && (result_.lowers.size() != before.lowers.size() ||
                                         result_.others.size() != before.others.size());
      if (!status || begins_later) {
        result_ = before;
        break;
      }
      result_.score = masks_else ? choice->then : choice->otherwise;
    }
    const bool begins_by_row = std::any_of(
        result_.lowers.begin(), result_.lowers.end(),
        [&](const Polynomial& bound) { return bound.mentions(result_.axis.coordinate); });
    if (result_.first_score_spoils && (begins_by_row || !result_.others.empty()) &&
        !kernel_.problem().assume.finite) {
      return refuse(
          "the problem does not grant 'assume: {finite: true}', and rows begin with different "
          "keys, of which the first must not have a score of minus infinity");
    }
    return {};
  }

  Status check_score() const {
    if (result_.score->type.value_or(ScalarType::f32) != ScalarType::f32)
      return refuse("the scores are not of single precision");
    Status status;
    walk(result_.score, [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      const bool is_unknown =
          name != nullptr && name->name != result_.dot && name->name != result_.key &&
          name->name != result_.axis.coordinate &&
          result_.form->kernel.parameter(name->name) == nullptr &&
          std::none_of(result_.values_of_block.begin(), result_.values_of_block.end(),
                       [&](const auto& one) { return one.first == name->name; });
      if (is_unknown) status = refuse("what '" + name->name + "' is for a score is not known");
      if (is<OpaqueExpression>(node)) status = refuse("the scores are not understood");
    });
    return status;
  }

  // What is done with the sums, over names that are declared there, and those of the sums.
  Status take_behind() {
    std::set<std::string> kept = declared_names(result_.behind);
    kept.insert(result_.maximum);
    kept.insert(result_.mix.name);
    for (const Variable& sum : result_.sums)
      kept.insert(sum.name);
    Status status;
    walk(result_.behind, [&](const Stmt& stmt) {
      switch (stmt.kind()) {
        case StmtKind::declaration:
        case StmtKind::assignment:
        case StmtKind::branch:
        case StmtKind::for_loop:
        case StmtKind::scope:
          return;
        default:
          status = refuse("what is done with the sums is more than to store them");
      }
    });
    if (!status) return status;
    result_.behind = rewrite_expressions(
        result_.behind,
        [&](const ExprPtr& expr) -> std::optional<ExprPtr> { return inlined(expr, kept); });
    const auto all = [&](const Expr& node) {
      const auto* name = as<VariableReference>(node);
      return name == nullptr || kept.contains(name->name) ||
             name->name == result_.axis.coordinate ||
             result_.form->kernel.parameter(name->name) != nullptr;
    };
    if (!all_expressions(result_.behind, all))
      return refuse("what is done with the sums mentions other values of the thread");
    return check_mix(result_.behind);
  }

  // Elements of the weighted sums are met one by one, in loops over all of them.
  Status check_mix(const Block& block) const {
    for (const StmtPtr& stmt : block) {
      if (is<ForLoop>(stmt)) {
        const auto counted = counted_loop_of(*stmt);
        const auto trips = counted ? counted->trips_from_zero() : std::nullopt;
        if (trips != result_.mix.extents[0])
          return refuse("what is done with the sums has a loop over something else");
        const std::string& name = result_.mix.name;
        int mentions = 0;
        int elements = 0;
        walk_expressions(body_of(*stmt), [&](const Expr& node) {
          if (is_named(node, name)) ++mentions;
          const auto* access = as<Subscript>(node);
          if (access != nullptr && is_named(access->base, name) &&
              is_named(access->index, counted->name))
            ++elements;
        });
        const bool has_loop = any_statement(body_of(*stmt), [](const Stmt& inner) {
          return is<ForLoop>(inner) || is<Branch>(inner);
        });
        if (mentions != elements || has_loop)
          return refuse("what is done with the sums takes them out of order");
        continue;
      }
      for (const Block* inner : {&body_of(*stmt), &otherwise_of(*stmt)}) {
        if (Status status = check_mix(*inner); !status) return status;
      }
      if (any_own_expression(*stmt,
                             [&](const Expr& node) { return is_named(node, result_.mix.name); }))
        return refuse("what is done with the sums takes them out of order");
    }
    return {};
  }

  const KernelAnalysis& kernel_;
  AttentionPattern result_;
  RowPlacer places_;
  AttentionLoop loop_;
  std::optional<ScalarType> element_type_;
};

}  // namespace

bool AttentionPattern::is_masked() const {
  const auto follows_row = [&](const Polynomial& bound) { return bound.mentions(axis.coordinate); };
  return !others.empty() || std::any_of(uppers.begin(), uppers.end(), follows_row) ||
         std::any_of(lowers.begin(), lowers.end(), follows_row);
}

Result<AttentionPattern> find_attention(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  return AttentionFinder(kernel, **launch).find();
}

}  // namespace regraph::rewrite
