#include "rewrite/analysis/pair_tree.h"

#include "rewrite/analysis/pair_choice.h"
#include "rewrite/analysis/tree_rounds.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <optional>

namespace regraph::rewrite {

using source::as;
using source::ExprPtr;
using source::Polynomial;
using source::Subscript;
using source::Variable;
using source::VariableReference;

namespace {

// An element of a shared array.
struct Slot {
  const Variable* array = nullptr;
  Polynomial index;
};

std::optional<Slot> slot_of(const ExprPtr& expr, const TreeRounds& rounds,
                            const source::Analysis& analysis) {
  const auto* access = as<Subscript>(expr);
  const auto* base = access != nullptr ? as<VariableReference>(access->base) : nullptr;
  const Variable* array = base != nullptr ? analysis.local(base->name) : nullptr;
  const auto index = access != nullptr ? rounds.polynomial(access->index) : std::nullopt;
  if (array == nullptr || !index || array->storage != source::Storage::shared ||
      array->extents.size() != 1 || !array->scalar) {
    return std::nullopt;
  }
  return Slot{array, *index};
}

}  // namespace

Result<PairTree> match_pair_tree(const source::Kernel& kernel, const source::Analysis& analysis,
                                 std::size_t position, const Dim3& block) {
  TreeRounds rounds(analysis, block);
  if (Status status = rounds.read(kernel.body[position]); !status) return status.error();
  const std::string& where = rounds.where();
  if ((block.x & (block.x - 1)) != 0)
    return refuse(where + "a tree over a block whose threads are no power of two leaves some out");
  const auto choice = match_pair_choice(rounds.update(), 0, rounds.update().size(), analysis);
  if (!choice) {
    return refuse(
        where +
        "a round does not choose one of two pairs by their values, and of equal values by "
        "the smaller or larger place");
  }
  const auto value = slot_of(choice->value, rounds, analysis);
  const auto place = slot_of(choice->place, rounds, analysis);
  const auto other_value = slot_of(choice->other_value, rounds, analysis);
  const auto other_place = slot_of(choice->other_place, rounds, analysis);
  if (!value || !place || !other_value || !other_place)
    return refuse(where + "it does not update one-dimensional shared arrays");
  if (value->array == place->array || value->array != other_value->array ||
      place->array != other_place->array) {
    return refuse(where + "its update reads more than the two arrays themselves");
  }
  const Polynomial partner = value->index + rounds.stride();
  if (!(place->index == value->index) || !(other_value->index == partner) ||
      !(other_place->index == partner)) {
    return refuse(where + "the partner is not one stride away");
  }
  if (Status status = rounds.require_guard(value->index); !status) return status.error();
  for (const Variable* array : {value->array, place->array}) {
    if (array->extents[0] < static_cast<std::int64_t>(block.x))
      return refuse(where + "the shared array is shorter than the block");
    if (analysis.is_viewed(array->name))
      return refuse(where + "the shared array is accessed as another type too");
    if (Status status =
            only_first_is_read_after(kernel.body, position, array->name, analysis, block);
        !status) {
      return status.error();
    }
  }
  return PairTree{value->array, place->array, choice->relation, choice->tie};
}

}  // namespace regraph::rewrite
