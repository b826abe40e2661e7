#include "rewrite/forms/scaled_sums.h"

#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Updates of sums that are scaled and added to at once.

// sum = sum * scale + added, in two: the sum is scaled, and then added to. Sums may be elements of
// an array that loops go over, each once.
struct SumUpdate {
  std::string sum;
  StmtPtr scaling;  // null: none
  StmtPtr adding;   // null: none
};

// Whether it is a variable or an array of the thread's own.
bool is_of_thread(const std::string& name, const Analysis& analysis) {
  const Variable* local = analysis.local(name);
  return local != nullptr && !local->is_pointer && local->storage == Storage::automatic;
}

// Whether the loops go over elements, none of them twice.
bool is_each_once(const Expr& target, const std::vector<std::string>& counters) {
  const std::vector<ExprPtr> indices = indices_of(target);
  return std::equal(
      indices.begin(), indices.end(), counters.begin(), counters.end(),
      [](const ExprPtr& index, const std::string& counter) { return is_named(index, counter); });
}

class SumUpdateSplitter {
 public:
  // For updates with the variable `scale`, of a type, to which only what `is_weighted` is added.
  // `analysis` must outlive it.
  SumUpdateSplitter(const Analysis& analysis, std::string scale, ScalarType scalar,
                    std::function<bool(const ExprPtr&)> is_weighted)
      : analysis_(analysis),
        scale_(std::move(scale)),
        scalar_(scalar),
        is_weighted_(std::move(is_weighted)) {}

  // Nothing for other statements.
  [[nodiscard]] std::optional<SumUpdate> split(const StmtPtr& stmt,
                                               std::vector<std::string> counters = {}) const {
    if (const auto* loop = as<ForLoop>(stmt)) {
      const auto counted = counted_loop_of(*loop);
      if (loop->body.size() != 1 || !counted) return std::nullopt;
      counters.push_back(counted->name);
      auto update = split(loop->body.front(), std::move(counters));
      if (!update) return std::nullopt;
      const auto around = [&](StmtPtr& inner) {
        if (!inner) return;
        auto copy = std::make_shared<ForLoop>(*loop);
        copy->body = {std::move(inner)};
        inner = std::move(copy);
      };
      around(update->scaling);
      around(update->adding);
      return update;
    }
    const auto* update = as<Assignment>(stmt);
    const auto* base = update != nullptr ? base_variable(*update->target) : nullptr;
    const Variable* sum = base != nullptr && is_of_thread(base->name, analysis_)
                              ? analysis_.local(base->name)
                              : nullptr;
    if (sum == nullptr || sum->scalar != scalar_ || update->target->type != scalar_ ||
        !is_each_once(*update->target, counters)) {
      return std::nullopt;
    }
    if (update->op == AssignmentOperator::multiply && is_named(update->value, scale_))
      return SumUpdate{sum->name, stmt, nullptr};
    ExprPtr added;
    bool scales = false;
    if (update->op == AssignmentOperator::add) {
      added = update->value;
    } else if (update->op == AssignmentOperator::assign) {
      scales = true;
      if (is_scaled(update->value, update->target))
        return SumUpdate{sum->name, scaling_of(update->target), nullptr};
      added = added_to_scaled(update->value, update->target);
    }
    if (!added || added->type != scalar_ || !is_weighted_(added)) return std::nullopt;
    SumUpdate result{sum->name, nullptr, nullptr};
    if (scales) result.scaling = scaling_of(update->target);
    result.adding = source::assign(update->target, AssignmentOperator::add, added);
    return result;
  }

 private:
  [[nodiscard]] StmtPtr scaling_of(const ExprPtr& target) const {
    return source::assign(target, AssignmentOperator::multiply, source::variable(scale_, scalar_));
  }

  // target * scale, or scale * target
  [[nodiscard]] bool is_scaled(const ExprPtr& value, const ExprPtr& target) const {
    const auto* product = as_binary(value, BinaryOperator::multiply);
    if (product == nullptr) return false;
    return (source::equal(product->left, target) && is_named(product->right, scale_)) ||
           (source::equal(product->right, target) && is_named(product->left, scale_));
  }

  // What stands beside the scaled target in a sum; null where there is no such sum.
  [[nodiscard]] ExprPtr added_to_scaled(const ExprPtr& value, const ExprPtr& target) const {
    if (const auto* sum = as_binary(value, BinaryOperator::add)) {
      if (is_scaled(sum->left, target)) return sum->right;
      return is_scaled(sum->right, target) ? sum->left : nullptr;
    }
    const Call* call = as_multiply_add(value);
    if (call == nullptr) return nullptr;
    const ExprPtr product =
        with_type(source::multiply(call->arguments[0], call->arguments[1]), scalar_);
    return is_scaled(product, target) ? call->arguments[2] : nullptr;
  }

  const Analysis& analysis_;
  const std::string scale_;
  const ScalarType scalar_;
  const std::function<bool(const ExprPtr&)> is_weighted_;
};

// Whether both are done for the same elements.
bool goes_over_the_same(const StmtPtr& a, const StmtPtr& b) {
  const auto* one = as<ForLoop>(a);
  const auto* other = as<ForLoop>(b);
  if (one == nullptr || other == nullptr) return one == nullptr && other == nullptr;
  const auto first = counted_loop_of(*one);
  const auto second = counted_loop_of(*other);
  return first && second && first->stride == second->stride &&
         source::equal(first->first, second->first) && source::equal(first->limit, second->limit) &&
         goes_over_the_same(one->body.front(), other->body.front());
}

// Functions with f(a + b) = f(a) * f(b) and f(0) = 1.
constexpr std::array<std::string_view, 7> kScalingFunctions = {"expf", "exp",    "__expf",  "exp2f",
                                                               "exp2", "exp10f", "__exp10f"};

// f(from - minus) with one of the functions above; null for others.
const Call* exponential_of(const ExprPtr& expr, const std::string& minus) {
  const auto* call = as<Call>(expr);
  if (call == nullptr || call->arguments.size() != 1) return nullptr;
  const bool is_known = std::find(kScalingFunctions.begin(), kScalingFunctions.end(),
                                  call->function) != kScalingFunctions.end();
  const auto* difference = as_binary(call->arguments[0], BinaryOperator::subtract);
  return is_known && difference != nullptr && is_named(difference->right, minus) ? call : nullptr;
}

const ExprPtr& begin_of(const Call& exponential) {
  return to<Binary>(exponential.arguments[0]).left;
}

class SoftmaxFinder {
 public:
  SoftmaxFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  // The block with what begins at `position` in the other form.
  std::optional<Block> grown(const Block& block, std::size_t position, Names& names) {
    if (!begins(block[position])) return std::nullopt;
    for (std::size_t at = position + 1; at < block.size(); ++at)
      find_scale(*block[at]);
    if (scale_.empty()) return std::nullopt;
    std::size_t last = position;
    bool is_moved = false;
    for (std::size_t at = position + 1; at < block.size(); ++at) {
      const bool moves = moves_maximum(*block[at]);
      is_moved = is_moved || moves;
      if (moves || mentions_of(higher_, {block[at]}) > 0 || takes_weight(block[at])) last = at;
      note_weight(*block[at]);
    }
    if (!is_moved) return std::nullopt;
    const Block region(block.begin() + static_cast<std::ptrdiff_t>(position) + 1,
                       block.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    if (!read(region) || !is_alone(region)) return std::nullopt;
    Block result(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(position));
    emit(result, names);
    result.insert(result.end(), block.begin() + static_cast<std::ptrdiff_t>(last) + 1, block.end());
    return result;
  }

 private:
  // higher = fmaxf(maximum, value)
  bool begins(const StmtPtr& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    const auto* call = declaration != nullptr ? as<Call>(declaration->value) : nullptr;
    const bool is_maximum =
        call != nullptr && call->arguments.size() == 2 &&
        (call->function == "fmaxf" || call->function == "fmax" || call->function == "max");
    if (!is_maximum || !declaration->variable.scalar || !is_floating(*declaration->variable.scalar))
      return false;
    higher_ = declaration->variable.name;
    scalar_ = *declaration->variable.scalar;
    type_ = declaration->variable.type;
    function_ = call->function;
    if (!analysis_.is_single_definition(higher_)) return false;
    for (const std::size_t own : {std::size_t{0}, std::size_t{1}}) {
      const auto* maximum = as<VariableReference>(call->arguments[own]);
      if (maximum == nullptr || maximum->type != scalar_ ||
          analysis_.is_single_definition(maximum->name) ||
          analysis_.local(maximum->name) == nullptr) {
        continue;
      }
      maximum_ = maximum->name;
      value_ = call->arguments[1 - own];
      return value_->type == scalar_ && mentions_of(maximum_, value_) == 0 && !calls(value_);
    }
    return false;
  }

  static bool calls(const ExprPtr& value) {
    return any_expression(
        value, [&](const Expr& part) { return is<Call>(part) || is<OpaqueExpression>(part); });
  }

  // maximum = higher
  bool moves_maximum(const Stmt& stmt) const {
    const auto* assigned = as<Assignment>(stmt);
    return assigned != nullptr && assigned->op == AssignmentOperator::assign &&
           is_named(assigned->target, maximum_) && is_named(assigned->value, higher_);
  }

  // scale = expf(maximum - higher)
  void find_scale(const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || !declaration->value || !scale_.empty()) return;
    const Call* call = exponential_of(declaration->value, higher_);
    const bool is_scale = call != nullptr && is_named(begin_of(*call), maximum_) &&
                          declaration->variable.scalar == scalar_ &&
                          analysis_.is_single_definition(declaration->variable.name);
    if (!is_scale) return;
    scale_ = declaration->variable.name;
    scale_declaration_ = declaration;
    exponential_ = call->function;
  }

  // Whether it names the scale or one of the weights so far.
  bool takes_weight(const StmtPtr& stmt) const {
    const std::set<std::string> mentioned = variables_of(Block{stmt});
    return mentioned.contains(scale_) ||
           std::any_of(weights_.begin(), weights_.end(),
                       [&](const std::string& weight) { return mentioned.contains(weight); });
  }

  // weight = expf(value - higher)
  void note_weight(const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration != nullptr && declaration->value && is_weight(declaration->value) &&
        analysis_.is_single_definition(declaration->variable.name)) {
      weights_.insert(declaration->variable.name);
    }
  }

  bool read(const Block& region) {
    const SumUpdateSplitter splitter(analysis_, scale_, scalar_,
                                     [this](const ExprPtr& expr) { return is_weighted(expr); });
    bool is_moved = false;
    for (const StmtPtr& stmt : region) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration == scale_declaration_) continue;
      if (!is_moved && moves_maximum(*stmt)) {
        is_moved = true;
        continue;
      }
      if (auto split = splitter.split(stmt)) {
        const bool is_fresh = !split->scaling || sums_.insert(split->sum).second;
        if (!is_fresh || !sums_.contains(split->sum)) return false;
        if (split->scaling) scalings_[split->sum] = split->scaling;
        if (split->adding) {
          if (goes_over_the_same(scalings_[split->sum], split->adding)) adding_.insert(split->sum);
          rest_.push_back(split->adding);
        }
        continue;
      }
      if (!is_other(stmt, is_moved)) return false;
      rest_.push_back(stmt);
    }
    // What is scaled has its weight added, so that it is no number when the scale would be none.
    return is_moved && !sums_.empty() && sums_ == adding_ && take_no_sums();
  }

  // A statement that stays, with the new maximum in the place of `higher`.
  bool is_other(const StmtPtr& stmt, bool is_moved) const {
    bool is_plain = !holds_any({stmt}, {StmtKind::barrier, StmtKind::jump, StmtKind::return_,
                                        StmtKind::while_loop, StmtKind::evaluation});
    walk(Block{stmt}, [&](const Stmt& inner) {
      const auto* changed = target_of(inner) ? place_variable(*target_of(inner)) : nullptr;
      if (target_of(inner)) {
        is_plain = is_plain && changed != nullptr && changed->name != maximum_ &&
                   mentions_of(changed->name, value_) == 0 &&
                   is_of_thread(changed->name, analysis_);
      }
      walk_own_expressions(inner, [&](const Expr& expr) {
        for_each_passed_place(expr, [&](const Expr&) { is_plain = false; });
      });
    });
    return is_plain && mentions_of(scale_, {stmt}) == 0 &&
           (is_moved || mentions_of(maximum_, {stmt}) == 0);
  }

  // Whether statements that stay, and what is added, ask for none of the sums.
  bool take_no_sums() const {
    for (const std::string& sum : sums_) {
      for (const StmtPtr& stmt : rest_) {
        if (mentions_of(sum, {stmt}) == 0) continue;
        const StmtPtr inner = innermost(stmt);
        const auto* assigned = as<Assignment>(inner);
        const auto* base = assigned != nullptr ? base_variable(*assigned->target) : nullptr;
        if (base == nullptr || base->name != sum || mentions_of(sum, assigned->value) > 0) {
          return false;
        }
      }
      if (mentions_of(sum, value_) > 0) return false;
    }
    return true;
  }

  // The single statement that loops repeat, one in the other; what is no loop is that itself.
  static StmtPtr innermost(const StmtPtr& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    return loop != nullptr && loop->body.size() == 1 ? innermost(loop->body.front()) : stmt;
  }

  bool is_weight(const ExprPtr& expr) const {
    const Call* call = exponential_of(expr, higher_);
    return call != nullptr && call->function == exponential_ &&
           source::equal(begin_of(*call), value_);
  }

  // Whether it is the weight, or a product with it.
  bool is_weighted(const ExprPtr& expr) const {
    if (is_weight(expr)) return true;
    const auto* variable = as<VariableReference>(expr);
    if (variable != nullptr) return weights_.contains(variable->name);
    const auto* product = as_binary(expr, BinaryOperator::multiply);
    return product != nullptr && (is_weighted(product->left) || is_weighted(product->right));
  }

  // Whether the maximum begins with a number, or minus infinity, and neither it nor the sums get
  // another value as long as it lives and the sums are added to.
  bool is_alone(const Block& region) const {
    const Block* home = nullptr;
    const StmtPtr* around = nullptr;
    find_home(kernel_.body, home, around);
    if (home == nullptr) return false;
    if (changes_of(maximum_, kernel_.body) != 1) return false;
    if (around == nullptr) return true;  // the block of the maximum itself: it is done once
    for (const std::string& sum : sums_) {
      if (changes_of(sum, {*around}) != changes_of(sum, region)) return false;
    }
    return true;
  }

  // The block that declares the maximum, and the statement of it that holds the updates.
  void find_home(const Block& block, const Block*& home, const StmtPtr*& around) const {
    for (const StmtPtr& stmt : block) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.name == maximum_ &&
          begins_below_infinity(declaration->value)) {
        home = &block;
      }
      find_home(body_of(*stmt), home, around);
      find_home(otherwise_of(*stmt), home, around);
    }
    if (home != &block) return;
    for (const StmtPtr& stmt : block) {
      if (!declared_names(Block{stmt}).contains(higher_)) continue;
      if (!is<Declaration>(stmt)) around = &stmt;
    }
  }

  static bool begins_below_infinity(const ExprPtr& value) {
    if (!value) return false;
    if (const auto* cast = as<Cast>(value)) return begins_below_infinity(cast->operand);
    const auto* minus = as_unary(value, UnaryOperator::minus);
    if (minus != nullptr) return is<FloatingLiteral>(*minus->operand);
    const auto* literal = as<FloatingLiteral>(value);
    return is<IntegerLiteral>(*value) ||
           (literal != nullptr &&
            literal->spelling.find_first_not_of("0123456789.eE+-fF") == std::string::npos);
  }

  void emit(Block& out, Names& names) const {
    ExprPtr value = value_;
    const auto* named = as<VariableReference>(value_);
    if (named == nullptr || !analysis_.is_single_definition(named->name)) {
      const std::string name = names.fresh("value");
      Variable variable = local_variable(name, type_, scalar_);
      variable.is_const = true;
      out.push_back(declare(variable, value_));
      value = source::variable(name, scalar_);
    }
    const ExprPtr maximum = source::variable(maximum_, scalar_);
    const auto exponential = [&](const ExprPtr& from, const ExprPtr& minus) {
      return with_type(
          source::call(exponential_, {with_type(source::subtract(from, minus), scalar_)}), scalar_);
    };
    Block scaled = {declare(scale_declaration_->variable, exponential(maximum, value))};
    for (const auto& [sum, scaling] : scalings_)
      scaled.push_back(scaling);
    out.push_back(branch(binary(BinaryOperator::greater, value, maximum), std::move(scaled)));
    out.push_back(
        source::assign(maximum, with_type(source::call(function_, {maximum, value}), scalar_)));
    const Block rest =
        rewrite_expressions(rest_, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          if (is_weight(expr)) return exponential(value, maximum);
          if (is_named(expr, higher_)) return maximum;
          return std::nullopt;
        });
    out.insert(out.end(), rest.begin(), rest.end());
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::string higher_;
  std::string maximum_;
  std::string scale_;
  std::string exponential_;
  std::string function_;  // that chooses the maximum
  std::string type_;
  ScalarType scalar_ = ScalarType::f32;
  ExprPtr value_;
  const Declaration* scale_declaration_ = nullptr;
  std::set<std::string> weights_;
  std::set<std::string> sums_;
  std::set<std::string> adding_;             // sums that take the weight
  std::map<std::string, StmtPtr> scalings_;  // by sum
  Block rest_;                               // what stays behind the new maximum
};

class SumScaler final : public Mutator {
 public:
  explicit SumScaler(const Kernel& kernel)
      : kernel_(kernel), analysis_(kernel), names_(kernel, "_") {}

  Block run(const Block& block) override {
    Block result = Mutator::run(block);
    for (std::size_t at = 0; at < result.size(); ++at) {
      if (auto grown = SoftmaxFinder(kernel_, analysis_).grown(result, at, names_))
        result = std::move(*grown);
    }
    return result;
  }
  using Mutator::run;

 private:
  const Kernel& kernel_;
  const Analysis analysis_;
  Names names_;
};

}  // namespace

Block with_scaled_sums(const Kernel& kernel) {
  return SumScaler(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
