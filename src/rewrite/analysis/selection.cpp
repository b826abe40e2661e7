#include "rewrite/analysis/selection.h"

#include "rewrite/analysis/pair_choice.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

bool Selection::same_operation(const Selection& other) const {
  const auto same = [](const CarriedScalar& a, const CarriedScalar& b) {
    return a.variable == b.variable;
  };
  return same(value, other.value) && relation == other.relation &&
         takes_equal == other.takes_equal && tie == other.tie &&
         std::equal(followers.begin(), followers.end(), other.followers.begin(),
                    other.followers.end(), same);
}

std::vector<CarriedScalar> Selection::carried() const {
  std::vector<CarriedScalar> all = {value};
  all.insert(all.end(), followers.begin(), followers.end());
  return all;
}

namespace {

// target = value, chosen under the condition.
struct ChosenValue {
  std::string target;
  ExprPtr value;
};

class SelectionMatcher {
 public:
  SelectionMatcher(const std::set<std::string>& inside, const Analysis& analysis)
      : inside_(inside), analysis_(analysis) {}

  std::optional<SelectionMatch> match(const Block& block, std::size_t position) {
    const Stmt* first = block[position].get();
    if (const auto* name = as<Declaration>(*first)) {
      // bool better = v > best;
      if (!name->value || !analysis_.is_single_definition(name->variable.name)) return std::nullopt;
      condition_ = name->value;
      condition_name_ = name->variable.name;
      match_.temporaries.insert(condition_name_);
      match_.statements.insert(first);
      ++position;
    }
    if (position == block.size()) return std::nullopt;
    if (const auto* branch = as<Branch>(block[position])) {
      if (!guards(*branch)) return std::nullopt;
    } else if (!chooses(block, position)) {
      return std::nullopt;
    }
    if (!complete(first)) return std::nullopt;
    return std::move(match_);
  }

  // Two pairs compared in any way.
  std::optional<SelectionMatch> match_pairs(const Block& block, std::size_t position) {
    constexpr std::size_t kMostStatements = 8;
    // What is only named in front of it may be used elsewhere as well.
    const auto* name = as<Declaration>(block[position]);
    if (name != nullptr && name->value && name->variable.scalar != ScalarType::boolean)
      return std::nullopt;
    const std::size_t most = std::min(block.size(), position + kMostStatements);
    for (std::size_t last = position + 1; last <= most; ++last) {
      const auto choice = match_pair_choice(block, position, last, analysis_);
      if (!choice) continue;
      const auto* value = as<VariableReference>(choice->value);
      const auto* place = as<VariableReference>(choice->place);
      const auto best = value != nullptr ? carried(value->name) : std::nullopt;
      const auto follower = place != nullptr ? carried(place->name) : std::nullopt;
      if (!best || !follower) return std::nullopt;
      Selection& selection = match_.selection;
      selection.value = *best;
      selection.followers = {*follower};
      selection.relation = choice->relation;
      selection.tie = choice->tie;
      selection.updates = {{block[position].get(), nullptr, {choice->other_place}}};
      for (std::size_t i = position; i < last; ++i)
        match_.statements.insert(block[i].get());
      match_.temporaries = choice->temporaries;
      return std::move(match_);
    }
    return std::nullopt;
  }

 private:
  // Whether the expression is the condition, by its name or in full; the first one is the one.
  bool is_condition(const ExprPtr& expr) {
    if (!condition_name_.empty()) return is_named(expr, condition_name_);
    if (!condition_) condition_ = expr;
    return source::equal(expr, condition_);
  }

  // if (condition) { best = v; position = i; }
  bool guards(const Branch& branch) {
    if (!branch.otherwise.empty() || !is_condition(branch.condition)) return false;
    for (const StmtPtr& stmt : branch.body) {
      const auto* assignment = as<Assignment>(stmt);
      const auto* target =
          assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
      if (target == nullptr || assignment->op != AssignmentOperator::assign) return false;
      choices_.push_back({target->name, assignment->value});
    }
    match_.statements.insert(&branch);
    return true;
  }

  // position = condition ? i : position; best = condition ? v : best;
  bool chooses(const Block& block, std::size_t position) {
    for (; position < block.size(); ++position) {
      const auto* assignment = as<Assignment>(block[position]);
      const auto* target =
          assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
      const auto* choice = target != nullptr ? as<Conditional>(assignment->value) : nullptr;
      const bool is_choice = choice != nullptr && assignment->op == AssignmentOperator::assign &&
                             is_named(choice->otherwise, target->name) &&
                             is_condition(choice->condition);
      if (!is_choice) break;
      choices_.push_back({target->name, choice->then});
      match_.statements.insert(block[position].get());
      // Afterwards a condition without a name would be another.
      if (condition_name_.empty() && variables_of(condition_).contains(target->name)) break;
    }
    return true;
  }

  std::optional<CarriedScalar> carried(const std::string& name) const {
    const Variable* variable = analysis_.local(name);
    if (variable == nullptr || !variable->scalar || variable->is_pointer ||
        !variable->extents.empty() || variable->storage != Storage::automatic ||
        inside_.contains(name)) {
      return std::nullopt;
    }
    // What shuffles move.
    const std::size_t bytes = size_in_bytes(*variable->scalar);
    if (bytes != sizeof(std::int32_t) && bytes != sizeof(std::int64_t)) return std::nullopt;
    return CarriedScalar{name, variable->type, *variable->scalar};
  }

  // Fills in the selection from the condition and the choices.
  bool complete(const Stmt* first) {
    const auto* comparison = as<Binary>(condition_);
    if (comparison == nullptr || choices_.size() < 2) return false;
    std::set<std::string> targets;
    for (const ChosenValue& choice : choices_) {
      if (!targets.insert(choice.target).second) return false;
    }
    Selection& selection = match_.selection;
    Selection::Update update = {first, condition_, {}};
    bool has_value = false;
    for (const ChosenValue& choice : choices_) {
      // Then nothing is lost by the order of the assignments.
      const std::set<std::string> names = variables_of(choice.value);
      if (std::any_of(names.begin(), names.end(),
                      [&](const std::string& name) { return targets.contains(name); })) {
        return false;
      }
      const auto place = carried(choice.target);
      if (!place) return false;
      if (!has_value && is_better(*comparison, choice, *place)) {
        has_value = true;
        selection.value = *place;
        continue;
      }
      selection.followers.push_back(*place);
      update.followers.push_back(choice.value);
    }
    selection.updates.push_back(std::move(update));
    return has_value;
  }

  // Whether the condition compares what is chosen with what was there, as they are.
  bool is_better(const Binary& comparison, const ChosenValue& choice, const CarriedScalar& place) {
    const ExprPtr& value = choice.value;
    const bool mirrored = is_named(comparison.left, choice.target);
    const ExprPtr& other = mirrored ? comparison.right : comparison.left;
    const ExprPtr& own = mirrored ? comparison.left : comparison.right;
    if (!is_named(own, choice.target) || !source::equal(other, value) ||
        value->type != place.scalar) {
      return false;
    }
    const auto beats = [&](BinaryOperator relation) {
      match_.selection.relation = relation;
      return true;
    };
    const auto above = mirrored ? BinaryOperator::less : BinaryOperator::greater;
    const auto below = mirrored ? BinaryOperator::greater : BinaryOperator::less;
    match_.selection.takes_equal = comparison.op == BinaryOperator::greater_equal ||
                                   comparison.op == BinaryOperator::less_equal;
    switch (comparison.op) {
      case BinaryOperator::greater:
      case BinaryOperator::greater_equal:
        return beats(above);
      case BinaryOperator::less:
      case BinaryOperator::less_equal:
        return beats(below);
      default:
        return false;
    }
  }

  const std::set<std::string>& inside_;
  const Analysis& analysis_;
  ExprPtr condition_;
  std::string condition_name_;
  std::vector<ChosenValue> choices_;
  SelectionMatch match_;
};

}  // namespace

std::optional<SelectionMatch> match_selection(const Block& block, std::size_t position,
                                              const std::set<std::string>& inside,
                                              const Analysis& analysis) {
  if (auto match = SelectionMatcher(inside, analysis).match(block, position)) return match;
  return SelectionMatcher(inside, analysis).match_pairs(block, position);
}

}  // namespace regraph::rewrite
