#include "rewrite/forms/rerolling.h"

#include "affine/constraints.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Several sums that are added up in the end, as one.

bool is_literal_zero(const ExprPtr& value) {
  const auto* floating = as<FloatingLiteral>(value);
  return is_number(value, 0) ||
         (floating != nullptr && std::strtod(floating->spelling.c_str(), nullptr) == 0.0);
}

// Whether the statement does nothing with the variable but to add to it.
bool adds_to(const std::string& name, const Stmt& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || !is_named(assignment->target, name)) return false;
  const auto added = added_term(*assignment);
  return added && !added->is_subtracted && mentions_of(name, added->term) == 0;
}

// The variables that are added up, and nothing else; false for anything else.
bool collect_sum(const ExprPtr& value, std::vector<std::string>& names) {
  if (const auto* variable = as<VariableReference>(value)) {
    names.push_back(variable->name);
    return true;
  }
  const auto* sum = as_binary(value, BinaryOperator::add);
  return sum != nullptr && collect_sum(sum->left, names) && collect_sum(sum->right, names);
}

// Partial sums of one block, and where they are added up.
class SumGroup {
 public:
  SumGroup(const Block& block, const Block& kernel) : block_(block), kernel_(kernel) {}

  // The block with one sum for those that `total` adds up; itself where that cannot be.
  Block merged(const ExprPtr& total) {
    if (!collect_sum(total, names_) || names_.size() < 2) return block_;
    const std::set<std::string> distinct(names_.begin(), names_.end());
    if (distinct.size() != names_.size()) return block_;
    for (const std::string& name : names_)
      if (!is_partial_sum(name)) return block_;
    std::string kept = names_.front();
    std::size_t reader = block_.size();  // a statement of the block that takes all of the sum
    for (std::size_t at = 0; at < block_.size(); ++at) {
      const ExprPtr& value = value_of(*block_[at]);
      if (value && value == total) reader = at;
    }
    Block result = block_;
    if (reader < block_.size()) kept = takes_over(reader, result);
    if (kept.empty()) return block_;
    return with_one(result, kept, total);
  }

 private:
  // Declared in the block with zero, else only added to, but for one use.
  bool is_partial_sum(const std::string& name) {
    const Declaration* found = nullptr;
    for (const StmtPtr& stmt : block_) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.name == name) found = declaration;
    }
    if (found == nullptr || !found->value || !is_literal_zero(found->value) ||
        !found->variable.scalar || !found->variable.extents.empty() ||
        (type_ && type_ != found->variable.scalar)) {
      return false;
    }
    type_ = found->variable.scalar;
    int adding = 0;
    walk(kernel_, [&](const Stmt& stmt) {
      if (adds_to(name, stmt))
        adding += mentions_of(name, target_of(stmt)) + mentions_of(name, value_of(stmt));
    });
    return mentions_of(name, kernel_) == adding + 1;
  }

  // Lets the variable that gets the total, or is added to, be the sum itself. Which one it is; the
  // first of the partial sums where the total is only read.
  std::string takes_over(std::size_t reader, Block& result) const {
    const StmtPtr& stmt = block_[reader];
    const Block after(block_.begin() + static_cast<std::ptrdiff_t>(reader) + 1, block_.end());
    const bool is_last = std::all_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return mentions_of(name, after) == 0;
    });
    if (!is_last) return names_.front();
    if (const auto* declaration = as<Declaration>(stmt)) {
      if (declaration->variable.scalar != type_ || declaration->variable.is_pointer ||
          !declaration->variable.extents.empty()) {
        return names_.front();
      }
      result.erase(result.begin() + static_cast<std::ptrdiff_t>(reader));
      const auto rename =
          replace_variable(declaration->variable.name, source::variable(names_.front(), type_));
      for (std::size_t at = reader; at < result.size(); ++at)
        result[at] = rewrite_expressions({result[at]}, rename).front();
      return names_.front();
    }
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target == nullptr || assignment->op != AssignmentOperator::add || target->type != type_)
      return names_.front();
    // The target must be there before the sums are, and nobody may look at it in between.
    std::size_t first = reader;
    bool is_declared = false;
    for (std::size_t at = 0; at < reader; ++at) {
      const auto* declaration = as<Declaration>(block_[at]);
      if (declaration == nullptr) continue;
      const std::string& name = declaration->variable.name;
      is_declared = is_declared || name == target->name;
      if (first == reader && std::find(names_.begin(), names_.end(), name) != names_.end())
        first = at;
    }
    const Block between(block_.begin() + static_cast<std::ptrdiff_t>(first),
                        block_.begin() + static_cast<std::ptrdiff_t>(reader));
    const bool is_free =
        is_declared && std::none_of(between.begin(), between.end(), [&](const StmtPtr& other) {
          return mentions_of(target->name, Block{other}) > 0;
        });
    if (!is_free) return names_.front();
    std::vector<StmtPtr> moved;
    // Its declaration may come after theirs.
    for (std::size_t at = first; at < reader; ++at) {
      const auto* declaration = as<Declaration>(block_[at]);
      if (declaration == nullptr || declaration->variable.name != target->name) continue;
      if (!is_literal_zero(declaration->value)) return names_.front();
      moved.push_back(block_[at]);
    }
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(reader));
    for (const StmtPtr& declared : moved) {
      result.erase(std::find(result.begin(), result.end(), declared));
      result.insert(result.begin() + static_cast<std::ptrdiff_t>(first), declared);
    }
    return target->name;
  }

  // Adds to `kept` what was added to the others.
  Block with_one(const Block& block, const std::string& kept, const ExprPtr& total) const {
    const ExprPtr sum = source::variable(kept, type_);
    Block result;
    for (const StmtPtr& stmt : block) {
      const auto* declaration = as<Declaration>(stmt);
      const bool goes =
          declaration != nullptr && declaration->variable.name != kept &&
          std::find(names_.begin(), names_.end(), declaration->variable.name) != names_.end();
      if (!goes) result.push_back(stmt);
    }
    return rewrite_expressions(result, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (expr == total) return sum;
      const auto* variable = as<VariableReference>(expr);
      const bool is_part = variable != nullptr &&
                           std::find(names_.begin(), names_.end(), variable->name) != names_.end();
      return is_part ? std::optional(sum) : std::nullopt;
    });
  }

  const Block& block_;
  const Block& kernel_;
  std::vector<std::string> names_;
  std::optional<ScalarType> type_;
};

// The sums of at least two variables in the value, the largest of each.
void collect_totals(const ExprPtr& value, std::vector<ExprPtr>& out) {
  std::vector<std::string> names;
  if (collect_sum(value, names) && names.size() >= 2) {
    out.push_back(value);
    return;
  }
  for_each_operand(*value, [&](const ExprPtr& operand) { collect_totals(operand, out); });
}

std::vector<ExprPtr> totals_in(const Block& block) {
  std::vector<ExprPtr> result;
  walk(block, [&](const Stmt& stmt) {
    if (const ExprPtr& value = value_of(stmt)) collect_totals(value, result);
  });
  return result;
}

class SumMerger final : public Mutator {
 public:
  explicit SumMerger(const Kernel& kernel) : kernel_(kernel) {}

  Block run(const Block& block) override {
    Block result = Mutator::run(block);
    const bool begins = std::any_of(result.begin(), result.end(), [](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->value && is_literal_zero(declaration->value);
    });
    if (!begins) return result;
    for (const ExprPtr& total : totals_in(result))
      result = SumGroup(result, kernel_.body).merged(total);
    return result;
  }
  using Mutator::run;

 private:
  const Kernel& kernel_;
};

// float s0 = 0, s1 = 0; for (...) { s0 += a; s1 += b; } out = s0 + s1;
//   ->   float s0 = 0; for (...) { s0 += a; s0 += b; } out = s0;
//
// for scalars of one block that begin with zero, are only added to, and are read only by one sum of
// them all; what that sum gives its value to, or adds it to, goes on in their place where nothing
// else was made of it before. Sums of floating point are rounded in another order. Chains get
// longer by it: of use where something else follows. For kernels without opaque code.
Block with_partial_sums_merged(const Kernel& kernel) {
  return SumMerger(kernel).run(kernel.body);
}

constexpr std::int64_t kMostCopies = 32;

// A loop that goes up by the same in every iteration; null and empty for what is not known.
struct Ascent {
  std::string counter;
  ExprPtr first;  // null: what the counter holds
  ExprPtr step;
};

std::optional<Ascent> ascent_of(const ForLoop& loop) {
  const auto* step = loop.advance();
  const auto* counter = step != nullptr ? as<VariableReference>(step->target) : nullptr;
  if (counter == nullptr || !counter->type || is_floating(*counter->type) || !loop.condition ||
      step->op != AssignmentOperator::add) {
    return std::nullopt;
  }
  Ascent result{counter->name, nullptr, step->value};
  if (!loop.init) return result;
  const auto* declaration = loop.declaration();
  const auto* assignment = as<Assignment>(loop.init);
  const bool is_own = declaration != nullptr
                          ? declaration->variable.name == counter->name && declaration->value
                          : assignment != nullptr && assignment->op == AssignmentOperator::assign &&
                                is_named(assignment->target, counter->name);
  if (!is_own) return std::nullopt;
  result.first = declaration != nullptr ? declaration->value : assignment->value;
  return result;
}

// A number of things, made of positive numbers and builtins that are positive themselves.
bool is_positive_distance(const Polynomial& value) {
  if (value.is_zero()) return false;
  return std::all_of(value.terms().begin(), value.terms().end(), [](const auto& term) {
    return term.second > 0 &&
           std::all_of(term.first.begin(), term.first.end(), [](const std::string& name) {
             return name.starts_with("blockDim.") || name.starts_with("gridDim.");
           });
  });
}

// n of `times * distance == n`, 0 where there is none.
std::int64_t multiple_of(const Polynomial& whole, const Polynomial& part) {
  if (part.is_zero() || whole.terms().size() != part.terms().size()) return 0;
  const std::int64_t factor = part.terms().begin()->second;
  const std::int64_t number = whole.terms().begin()->second;
  if (number % factor != 0) return 0;
  return part * Polynomial(number / factor) == whole ? number / factor : 0;
}

// One loop of a block, with the one that goes on after it.
class LoopPair {
 public:
  LoopPair(const ForLoop& several, const ForLoop& rest, const Analysis& analysis)
      : several_(several), rest_(rest), analysis_(analysis) {}

  // The two as one; null where the first is not the second unrolled.
  StmtPtr rolled(const StmtPtr& before, const CopyLicence& licence, CopyLicence& relied_on) {
    const auto fast = ascent_of(several_);
    const auto slow = ascent_of(rest_);
    if (!fast || !slow) return nullptr;
    changed_ = given_values_in(several_.body);
    const std::set<std::string> changed_by_rest = given_values_in(rest_.body);
    changed_.insert(changed_by_rest.begin(), changed_by_rest.end());
    if (changed_.contains(fast->counter) || changed_.contains(slow->counter)) return nullptr;
    changed_.insert({fast->counter, slow->counter});
    fast_ = *fast;
    slow_ = *slow;
    if (!is_kept(fast->step, changed_) || !is_kept(slow->step, changed_)) return nullptr;
    const bool is_one = !slow->first && slow->counter == fast->counter;
    if (!is_one && (!slow->first || slow->counter == fast->counter)) return nullptr;
    const auto places = is_one ? places_of_one() : places_of_two();
    if (!places || places->copies < 2 || places->copies > kMostCopies) return nullptr;
    if (is_one ? !leaves_room(*places, before) : !ends_where_rest_begins(*places)) return nullptr;
    const auto needed = relied_on_by_copies(several_.body, rest_.body, *places, analysis_, licence);
    if (!needed) return nullptr;
    relied_on.distinct_buffers = relied_on.distinct_buffers || needed->distinct_buffers;
    relied_on.reordered_sums = relied_on.reordered_sums || needed->reordered_sums;
    auto result = std::make_shared<ForLoop>(rest_);
    result->line = several_.line;
    if (is_one) {
      result->init = several_.init;
    } else {
      const auto* counter = rest_.declaration();
      result->init = counter != nullptr
                         ? declare(counter->variable, integer(0))
                         : source::assign(to<Assignment>(rest_.init).target, integer(0));
    }
    return result;
  }

 private:
  std::optional<Polynomial> read(const ExprPtr& expr) const {
    return place_polynomial(expr, fast_.counter, analysis_);
  }

  // Of two loops with one counter.
  std::optional<CopyPlaces> places_of_one() const {
    const auto step = read(slow_.step);
    const auto group = step && is_positive_distance(*step) ? read(fast_.step) : std::nullopt;
    if (!group) return std::nullopt;
    return CopyPlaces{slow_.counter, Polynomial::symbol(fast_.counter), *step,
                      static_cast<int>(multiple_of(*group, *step))};
  }

  // Whether all of a group lies in front of the rest's limit.
  bool leaves_room(const CopyPlaces& places, const StmtPtr& before) const {
    const ExprPtr limit = limit_of(rest_.condition, slow_.counter);
    if (!limit || !is_kept(limit, changed_)) return false;
    const Polynomial last = places.distance * Polynomial(places.copies - 1);
    const auto reader = [this](const ExprPtr& side) { return read(side); };
    const auto asked = slack_of(several_.condition, reader);
    const auto wanted = slack_of(rest_.condition, reader);
    const Polynomial counter = Polynomial::symbol(fast_.counter);
    const auto room = asked && wanted
                          ? (wanted->substitute(fast_.counter, counter + last) - *asked).constant()
                          : std::nullopt;
    if (room) return *room >= 0 && !takes_from_unsigned(several_.condition);
    const ExprPtr end = limit_of(several_.condition, fast_.counter);
    return end && whole_groups(end, limit, places.copies, true) &&
           places.distance == Polynomial(1) && begins_with_group(before, places.copies);
  }

  // Of two loops with a counter each: the first counts elements, or groups of them.
  std::optional<CopyPlaces> places_of_two() const {
    const ExprPtr begin = slow_.first;
    const ExprPtr limit = limit_of(rest_.condition, slow_.counter);
    if (!limit || !fast_.first || !is_number(fast_.first, 0) || !is_number(slow_.step, 1) ||
        !is_kept(limit, changed_)) {
      return std::nullopt;
    }
    const auto* step = as<IntegerLiteral>(fast_.step);
    if (step == nullptr) return std::nullopt;
    const Polynomial counter = Polynomial::symbol(fast_.counter);
    for (std::int64_t copies = step->value > 1 ? step->value : 2; copies <= kMostCopies; ++copies) {
      if (whole_groups(begin, limit, static_cast<int>(copies), false))
        return CopyPlaces{slow_.counter, counter * Polynomial(step->value > 1 ? 1 : copies),
                          Polynomial(1), static_cast<int>(copies)};
      if (step->value > 1) break;
    }
    return std::nullopt;
  }

  bool ends_where_rest_begins(const CopyPlaces& places) const {
    const ExprPtr end = limit_of(several_.condition, fast_.counter);
    if (!end || !is_kept(end, changed_)) return false;
    const ExprPtr limit = limit_of(rest_.condition, slow_.counter);
    if (is_number(fast_.step, 1)) return is_quotient(end, limit, places.copies);
    return whole_groups(end, limit, places.copies, false);
  }

  // What stands behind `counter <`; null for any other condition.
  static ExprPtr limit_of(const ExprPtr& condition, const std::string& counter) {
    ExprPtr limit;
    const auto below = operation(BinaryOperator::less, named(counter), any(limit));
    return matches(condition, below) ? limit : nullptr;
  }

  ExprPtr defined(const ExprPtr& value) const {
    const auto* variable = as<VariableReference>(value);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    return definition && definition->type == value->type ? definition : value;
  }

  bool is_same(const ExprPtr& a, const ExprPtr& b) const {
    const auto first = a->type == b->type ? read(a) : std::nullopt;
    const auto second = first ? read(b) : std::nullopt;
    return second && *first == *second;
  }

  // n / copies, rounded towards zero.
  bool is_quotient(const ExprPtr& given, const ExprPtr& n, int copies) const {
    const ExprPtr value = defined(given);
    const auto* binary = as<Binary>(value);
    if (binary == nullptr || !is_same(defined(binary->left), defined(n))) return false;
    return binary->op == BinaryOperator::divide && is_number(binary->right, copies);
  }

  // n / copies * copies or n - n % copies; n & ~(copies - 1), too, where what is below zero does
  // not matter.
  bool whole_groups(const ExprPtr& given, const ExprPtr& n, int copies, bool or_mask) const {
    const ExprPtr value = defined(given);
    const auto* binary = as<Binary>(value);
    if (binary == nullptr) return false;
    const auto is_n = [&](const ExprPtr& expr) { return is_same(defined(expr), defined(n)); };
    if (binary->op == BinaryOperator::multiply) {
      return (is_quotient(binary->left, n, copies) && is_number(binary->right, copies)) ||
             (is_quotient(binary->right, n, copies) && is_number(binary->left, copies));
    } else if (binary->op == BinaryOperator::subtract && is_n(binary->left)) {
      const ExprPtr right = defined(binary->right);
      const auto* rest = as_binary(right, BinaryOperator::remainder);
      return rest != nullptr && is_n(rest->left) && is_number(rest->right, copies);
    } else if (binary->op == BinaryOperator::bit_and && is_n(binary->left) && or_mask) {
      const auto* complement = as_unary(binary->right, UnaryOperator::bit_not);
      const bool is_power = (copies & (copies - 1)) == 0;
      return is_power && ((complement != nullptr && is_number(complement->operand, copies - 1)) ||
                          is_number(binary->right, -copies));
    }
    return false;
  }

  // Whether the counter is a multiple of the copies, zero or more, when the loop begins.
  bool begins_with_group(const StmtPtr& before, int copies) const {
    ExprPtr first = fast_.first;
    if (!first && before) {
      const auto* declaration = as<Declaration>(before);
      const bool declares = declaration != nullptr && declaration->variable.name == fast_.counter;
      const bool assigns = is_named(target_of(*before), fast_.counter) &&
                           to<Assignment>(before).op == AssignmentOperator::assign;
      if (declares || assigns) first = value_of(*before);
    }
    const auto* number = first ? as<IntegerLiteral>(first) : nullptr;
    return number != nullptr && number->value >= 0 && number->value % copies == 0;
  }

  // Whether unsigned numbers are subtracted in it, which may wrap around.
  static bool takes_from_unsigned(const ExprPtr& condition) {
    return any_expression(condition, [&](const Expr& part) {
      const auto* binary = as<Binary>(part);
      const bool is_unsigned = part.type == ScalarType::u32 || part.type == ScalarType::u64;
      return binary != nullptr && is_unsigned && binary->op == BinaryOperator::subtract;
    });
  }

  const ForLoop& several_;
  const ForLoop& rest_;
  const Analysis& analysis_;
  Ascent fast_;
  Ascent slow_;
  std::set<std::string> changed_;
};

class LoopRoller final : public Mutator {
 public:
  LoopRoller(const Kernel& kernel, const CopyLicence& licence)
      : analysis_(kernel), licence_(licence) {}

  CopyLicence relied_on;

  Block run(const Block& block) override {
    Block result;
    for (const StmtPtr& stmt : Mutator::run(block)) {
      const auto* rest = as<ForLoop>(stmt);
      const auto* several =
          rest != nullptr && !result.empty() ? as<ForLoop>(result.back()) : nullptr;
      StmtPtr rolled;
      if (several != nullptr) {
        // What stands in front of the first, apart from other variables.
        StmtPtr before;
        const auto ascent = ascent_of(*several);
        for (std::size_t at = result.size() - 1; ascent && at-- > 0;) {
          if (given_values_in({result[at]}).contains(ascent->counter)) {
            before = result[at];
            break;
          }
        }
        rolled = LoopPair(*several, *rest, analysis_).rolled(before, licence_, relied_on);
      }
      if (rolled) {
        result.back() = std::move(rolled);
      } else {
        result.push_back(stmt);
      }
    }
    return result;
  }
  using Mutator::run;

 private:
  const Analysis analysis_;
  const CopyLicence licence_;
};

bool has_neighbouring_loops(const Block& block) {
  for (std::size_t at = 0; at < block.size(); ++at) {
    if (has_neighbouring_loops(body_of(*block[at])) ||
        has_neighbouring_loops(otherwise_of(*block[at]))) {
      return true;
    }
    if (!is<ForLoop>(block[at])) continue;
    if (std::any_of(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end(),
                    [](const StmtPtr& other) { return is<ForLoop>(other); })) {
      return true;
    }
  }
  return false;
}

}  // namespace

RerolledLoops with_loops_rerolled(const Kernel& kernel, const CopyLicence& licence) {
  RerolledLoops result{kernel, {}};
  // Most kernels have nothing to ask about.
  if (!has_neighbouring_loops(kernel.body)) return result;
  const auto roll = [&](const Kernel& from) {
    LoopRoller roller(from, licence);
    Block body = roller.run(from.body);
    if (body == from.body) return false;
    result.kernel.body = std::move(body);
    result.relied_on.distinct_buffers |= roller.relied_on.distinct_buffers;
    result.relied_on.reordered_sums |= roller.relied_on.reordered_sums;
    return true;
  };
  roll(result.kernel);
  if (licence.reordered_sums) {
    Kernel merged = result.kernel;
    merged.body = with_partial_sums_merged(merged);
    if (merged.body != result.kernel.body && roll(merged)) result.relied_on.reordered_sums = true;
  }
  return result;
}

}  // namespace regraph::rewrite
