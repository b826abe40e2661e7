#include "rewrite/transform/row_parts.h"

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/pair_choice.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/analysis/tree_rounds.h"
#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Recognises a tree over two shared arrays that hold pairs of a value and a place:
//
//   if (t < s) { if (values[t + s] > values[t] || (equal and places[t + s] < places[t])) both = ...; }
//
// Legal to take apart when equal values are told apart by their places: then which pair comes out
// does not depend on the shape of the tree.

struct PairTree {
  // Shared, one-dimensional, as long as the block at least.
  const Variable* values = nullptr;
  const Variable* places = nullptr;
  // As in PairChoice.
  BinaryOperator relation = BinaryOperator::greater;
  BinaryOperator tie = BinaryOperator::less;
};

// Matches the statement at `position` of the block; the arrays belong to `analysis`. Error:
// refused, with what differs from a tree.
Result<PairTree> match_pair_tree(const Block& body, const Analysis& analysis, std::size_t position,
                                 const Dim3& block) {
  TreeRounds rounds(body, analysis, block);
  if (Status status = rounds.read(position); !status) return status.error();
  const std::string& where = rounds.where();
  const auto choice = match_pair_choice(rounds.update(), 0, rounds.update().size(), analysis);
  if (!choice) {
    return refuse(
        where +
        "a round does not choose one of two pairs by their values, and of equal values by "
        "the smaller or larger place");
  }
  const auto value = rounds.element(choice->value);
  const auto place = rounds.element(choice->place);
  const auto other_value = rounds.element(choice->other_value);
  const auto other_place = rounds.element(choice->other_place);
  if (!value || !place || !other_value || !other_place)
    return refuse(where + "it does not update one-dimensional shared arrays");
  if (value->array == place->array)
    return refuse(where + "its values and places are in one shared array");
  if (Status status = rounds.require_tree(*value, *other_value); !status) return status.error();
  if (Status status = rounds.require_tree(*place, *other_place); !status) return status.error();
  return PairTree{value->array, place->array, choice->relation, choice->tie};
}

// The value of a literal, converted or not.
std::optional<double> number_of(const ExprPtr& expr) {
  if (const auto* converted = as<Cast>(expr)) return number_of(converted->operand);
  if (const auto* integer = as<IntegerLiteral>(expr)) return static_cast<double>(integer->value);
  if (const auto* floating = as<FloatingLiteral>(expr)) {
    char* end = nullptr;
    const double value = std::strtod(floating->spelling.c_str(), &end);
    return end != floating->spelling.c_str() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

// Whether the tree puts together what a loop does by the reduction: an extremum is one whatever it
// is called, max or fmaxf.
bool goes_on(const ReductionTree& tree, const Reduction& reduction) {
  const auto kept = extremum_of(tree.sum.function);
  if (reduction.kind == Reduction::Kind::comparison) return kept == reduction.relation;
  if (reduction.kind == Reduction::Kind::function && kept)
    return kept == extremum_of(reduction.function);
  return tree.sum.same_operation(reduction);
}

// Whether the place is the loop's counter, so that of equal values the smallest place stays.
bool keeps_first(const Selection& selection, const std::string& counter) {
  if (selection.takes_equal || selection.updates.size() != 1) return false;
  ExprPtr place = selection.updates.front().followers.front();
  const auto type = selection.followers.front().scalar;
  if (type != ScalarType::i32 && type != ScalarType::u32 && type != ScalarType::i64) return false;
  while (const auto* converted = as<Cast>(place))
    place = converted->operand;
  return is_named(place, counter);
}

}  // namespace

ExprPtr total_at(const ExprPtr& place, const TreeTotals& totals, const BlockRow& row) {
  const auto* element = as<Subscript>(place);
  const auto total = element != nullptr ? totals.find(base_name(*place)) : totals.end();
  if (total == totals.end()) return nullptr;
  const auto index = row.polynomial(element->index);
  return index && index->constant() == 0 ? variable(total->second, place->type) : nullptr;
}

Result<ReductionTree> match_filled_tree(const Block& block, std::size_t position,
                                        const Analysis& analysis, const Dim3& threads) {
  const auto& store = to<Assignment>(block[position]);
  const std::string array = base_name(*store.target);
  if (store.op != AssignmentOperator::assign || position + 2 >= block.size() ||
      !is<Barrier>(block[position + 1])) {
    return refuse(line_named(store) + "no tree follows what is put into '" + array + "'");
  }
  auto tree = match_reduction_tree(block, analysis, position + 2, threads);
  if (tree && tree->sum.variable != array)
    return refuse(line_named(store) + "the tree does not reach what all threads put into it");
  return tree;
}

void RowParts::start_otherwise(const Known& before) {
  forget_changed(before.totals);
  known_.parts = before.parts;
  known_.numbers = before.numbers;
}

void RowParts::join(const Known& before, const Known& side) {
  forget_changed(before.totals);
  known_.parts.insert(before.parts.begin(), before.parts.end());
  known_.parts.insert(side.parts.begin(), side.parts.end());
  known_.numbers.clear();
}

void RowParts::forget_changed(const TreeTotals& before) {
  std::erase_if(known_.totals, [&](const auto& entry) {
    const auto known = before.find(entry.first);
    return known == before.end() || known->second != entry.second;
  });
}

void RowParts::name_part(const std::string& part, const std::string& name) {
  known_.parts.emplace(name, known_.parts.at(part));
}

void RowParts::note_number(const std::string& name, const ExprPtr& value) {
  known_.numbers.erase(name);
  if (!value) return;
  if (const auto number = number_of(value)) known_.numbers[name] = *number;
}

Status RowParts::note_part(const Reduction& reduction, const Stmt& stmt) {
  const std::string& name = reduction.variable;
  const auto known = known_.parts.find(name);
  if (chosen_.contains(name))
    return refuse(line_named(stmt) + "'" + name + "' is updated by different operations");
  if (known != known_.parts.end()) {
    if (known->second.same_operation(reduction)) return {};
    return refuse(line_named(stmt) + "'" + name + "' is updated by different operations");
  }
  const ExprPtr neutral = reduction.neutral();
  const auto start = known_.numbers.find(name);
  if (neutral && (start == known_.numbers.end() || start->second != number_of(neutral))) {
    return refuse(line_named(stmt) + "what '" + name +
                  "' begins with is counted once for each thread of the block");
  }
  known_.parts.emplace(name, reduction);
  reductions_.push_back(reduction);
  known_.numbers.erase(name);
  return {};
}

Status RowParts::note_choice(const Selection& selection, const std::string& counter,
                             const Stmt& stmt) {
  const std::string& name = selection.value.variable;
  const auto known = choices_.find(name);
  if (selection.followers.size() != 1 ||
      !(selection.tie || (known == choices_.end() && keeps_first(selection, counter)))) {
    return refuse(line_named(stmt) + "which of equal values '" + name +
                  "' keeps is not told by what is kept with it");
  }
  if (known != choices_.end() && !known->second.same_operation(selection))
    return refuse(line_named(stmt) + "'" + name + "' is updated by different operations");
  choices_.insert_or_assign(name, selection);
  for (const CarriedScalar& carried : selection.carried()) {
    known_.parts.insert_or_assign(carried.variable, Reduction(carried));
    chosen_.insert(carried.variable);
    known_.numbers.erase(carried.variable);
  }
  return {};
}

Status RowParts::take_tree(const Block& block, std::size_t position, Block& out) {
  const auto& store = to<Assignment>(block[position]);
  const std::string array = base_name(*store.target);
  const auto* part = as<VariableReference>(store.value);
  const auto known = part != nullptr ? known_.parts.find(part->name) : known_.parts.end();
  if (known == known_.parts.end() || chosen_.contains(known->second.variable)) {
    return refuse(line_named(store) + "what a thread puts into '" + array +
                  "' is not what it has added up");
  }
  const auto tree = match_filled_tree(block, position, analysis_, block_);
  if (!tree) return tree.error();
  if (!goes_on(*tree, known->second)) {
    return refuse(line_named(store) + "the tree does not go on as '" + part->name +
                  "' was added up");
  }
  const std::string total = names_.fresh(part->name + "_total");
  out.push_back(declare(local_variable(total, tree->sum.type, tree->sum.scalar),
                        variable(part->name, part->type)));
  known_.totals[array] = total;
  return {};
}

Status RowParts::take_pair_tree(const Block& block, std::size_t position, Block& out) {
  const auto& first = to<Assignment>(block[position]);
  const auto& second = to<Assignment>(block[position + 1]);
  const bool is_followed = position + 3 < block.size() && is<Barrier>(block[position + 2]);
  if (!is_followed)
    return refuse(line_named(first) + "no tree follows what is put into shared memory");
  const auto tree = match_pair_tree(block, analysis_, position + 3, block_);
  if (!tree) return tree.error();
  const bool in_order = base_name(*first.target) == tree->values->name;
  const Assignment& value = in_order ? first : second;
  const Assignment& place = in_order ? second : first;
  const auto* best = as<VariableReference>(value.value);
  const auto* with = as<VariableReference>(place.value);
  const auto choice = best != nullptr ? choices_.find(best->name) : choices_.end();
  const bool is_part = choice != choices_.end() && with != nullptr &&
                       value.op == AssignmentOperator::assign &&
                       place.op == AssignmentOperator::assign &&
                       known_.parts.contains(best->name) && known_.parts.contains(with->name) &&
                       with->name == choice->second.followers.front().variable &&
                       base_name(*value.target) == tree->values->name &&
                       base_name(*place.target) == tree->places->name;
  if (!is_part) {
    return refuse(line_named(first) + "what a thread puts into '" + tree->values->name + "' and '" +
                  tree->places->name + "' is not the pair that it has chosen");
  }
  const Selection& selection = choice->second;
  if (selection.relation != tree->relation ||
      selection.tie.value_or(BinaryOperator::less) != tree->tie ||
      selection.value.scalar != tree->values->scalar ||
      selection.followers.front().scalar != tree->places->scalar) {
    return refuse(line_named(first) + "the tree does not go on as '" + best->name + "' was chosen");
  }
  for (const auto& [array, part] : {std::pair(tree->values, best), std::pair(tree->places, with)}) {
    const std::string total = names_.fresh(part->name + "_total");
    out.push_back(declare(local_variable(total, array->type, *array->scalar),
                          variable(part->name, part->type)));
    known_.totals[array->name] = total;
  }
  return {};
}

}  // namespace regraph::rewrite
