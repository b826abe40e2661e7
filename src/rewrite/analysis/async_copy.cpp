#include "rewrite/analysis/async_copy.h"

#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// target = source where the condition holds or is null, else zero.
struct Move {
  ExprPtr target;
  ExprPtr from;
  ExprPtr condition;
};

// for (place < width) statement
struct OverPlaces {
  const ForLoop* loop = nullptr;
  std::string place;
  std::int64_t width = 0;
  const Assignment* assignment = nullptr;
};

std::optional<OverPlaces> over_places(const StmtPtr& stmt) {
  OverPlaces places;
  places.loop = as<ForLoop>(stmt);
  if (places.loop == nullptr || places.loop->body.size() != 1) return std::nullopt;
  const auto counted = counted_loop_of(*stmt);
  const auto trips = counted ? counted->trip_count() : std::nullopt;
  if (!trips || !counted->starts_at_zero() || counted->stride != 1) return std::nullopt;
  places.place = counted->name;
  places.width = *trips;
  places.assignment = as<Assignment>(places.loop->body.front());
  if (places.assignment == nullptr || places.assignment->op != AssignmentOperator::assign)
    return std::nullopt;
  return places;
}

class AsynchronousCopy {
 public:
  AsynchronousCopy(const CopyPart& part, const Analysis& analysis)
      : part_(part), analysis_(analysis) {}

  Result<Block> run() const {
    Block result = part_.declarations;
    if (part_.loads.empty()) {
      for (const StmtPtr& stmt : part_.stores) {
        const auto* store = as<Assignment>(stmt);
        const auto move = store != nullptr ? move_of(store->target, store->value) : std::nullopt;
        if (!move) return not_an_element();
        result.push_back(copy(*move, bytes_of(*move)));
      }
      return result;
    }
    auto vectors = by_vectors();
    if (!vectors) return vectors.error();
    result.insert(result.end(), vectors->begin(), vectors->end());
    return result;
  }

 private:
  static Error not_an_element() {
    return refuse("a copy stores something else than an element of 4 or 8 bytes, or zero");
  }

  // The element of a global array, null for anything else.
  const Subscript* global_element(const ExprPtr& expr) const {
    const auto* element = as<Subscript>(expr);
    const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
    return base != nullptr && analysis_.is_global_pointer(base->name) ? element : nullptr;
  }

  std::optional<Move> move_of(const ExprPtr& target, const ExprPtr& value) const {
    Move move;
    move.target = target;
    move.from = value;
    if (const auto* choice = as<Conditional>(value)) {
      if (!is_zero(choice->otherwise) || analysis_.reads_memory(choice->condition))
        return std::nullopt;
      move.from = choice->then;
      move.condition = choice->condition;
    }
    if (global_element(move.from) == nullptr || bytes_of(move) == 0) return std::nullopt;
    // No conversion on the way.
    if (!move.target->type || move.target->type != move.from->type) return std::nullopt;
    return move;
  }

  static std::int64_t bytes_of(const Move& move) {
    if (!move.from->type) return 0;
    const auto bytes = static_cast<std::int64_t>(size_in_bytes(*move.from->type));
    return bytes == 4 || bytes == 8 ? bytes : 0;
  }

  static StmtPtr copy(const Move& move, std::int64_t bytes) {
    std::vector<ExprPtr> arguments = {address(move.target), address(move.from), integer(bytes)};
    if (move.condition) {
      arguments.push_back(conditional(move.condition, integer(0), integer(bytes)));
    }
    return evaluate(call("__pipeline_memcpy_async", std::move(arguments)));
  }

  // What smem_tile(copy=vector) makes:
  //   values[W]; if (whole) { vector = load; values[j] = vector.j } else for (p) values[p] = element;
  //   for (p) tile[... + p] = values[p];
  Result<Block> by_vectors() const {
    const auto* values = part_.loads.size() == 2 ? as<Declaration>(part_.loads[0]) : nullptr;
    const auto* choice = part_.loads.size() == 2 ? as<Branch>(part_.loads[1]) : nullptr;
    const auto store = part_.stores.size() == 1 ? over_places(part_.stores.front()) : std::nullopt;
    if (values == nullptr || values->value || choice == nullptr || !store ||
        choice->otherwise.size() != 1 ||
        !is_value(store->assignment->value, *values, store->place)) {
      return not_an_element();
    }
    const auto elements = over_places(choice->otherwise.front());
    if (!elements || elements->width != store->width ||
        !is_value(elements->assignment->target, *values, elements->place)) {
      return not_an_element();
    }
    const ExprPtr value =
        rewrite_expr(elements->assignment->value,
                     replace_variable(elements->place, source::variable(store->place)));
    const auto guarded = move_of(store->assignment->target, value);
    const ExprPtr vector = vector_source(*choice, *values, store->width);
    if (!guarded || !vector || !analysis_.is_global_pointer(base_variable(*vector)->name))
      return not_an_element();
    // The two versions read the same elements.
    const Move first = first_of(*guarded, store->place);
    if (!equal(first.from, vector)) return not_an_element();

    const std::int64_t bytes = bytes_of(*guarded);
    Block whole;
    if (is_aligned_run(*store)) {
      Move wide = first;
      wide.from = vector;
      wide.condition = nullptr;
      whole.push_back(copy(wide, bytes * store->width));
    } else {
      Move one = *guarded;
      one.condition = nullptr;
      whole.push_back(over(*store, copy(one, bytes)));
    }
    return Block{
        branch(choice->condition, std::move(whole), {over(*store, copy(*guarded, bytes))})};
  }

  // values[place]
  static bool is_value(const ExprPtr& expr, const Declaration& values, const std::string& place) {
    const auto* element = as<Subscript>(expr);
    return element != nullptr && is_named(element->base, values.variable.name) &&
           is_named(element->index, place);
  }

  static StmtPtr over(const OverPlaces& places, StmtPtr stmt) {
    return counted_loop(places.place, integer(0), integer(places.width), 1, {std::move(stmt)},
                        kUnrollFully);
  }

  // The move for place 0, as it is written where the place is added last.
  static Move first_of(const Move& move, const std::string& place) {
    const auto without = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      const auto* sum = as_binary(expr, BinaryOperator::add);
      if (sum != nullptr && is_named(sum->right, place)) return sum->left;
      if (is_named(expr, place)) return integer(0);
      return std::nullopt;
    };
    Move result;
    result.target = rewrite_expr(move.target, without);
    result.from = rewrite_expr(move.from, without);
    return result;
  }

  // The first element of what the whole version loads: `vector = ((T4*)&a[i])[0]; values[j] =
  // vector.j` in order. Null for anything else.
  static ExprPtr vector_source(const Branch& choice, const Declaration& values,
                               std::int64_t width) {
    if (static_cast<std::int64_t>(choice.body.size()) != width + 1) return nullptr;
    const auto* vector = as<Declaration>(choice.body.front());
    if (vector == nullptr || !vector->value) return nullptr;
    for (int number = 0; number < width; ++number) {
      const auto* part = as<Assignment>(choice.body[static_cast<std::size_t>(number) + 1]);
      const auto* element = part != nullptr ? as<Subscript>(part->target) : nullptr;
      const auto* component = part != nullptr ? as<Member>(part->value) : nullptr;
      const bool in_order = element != nullptr && component != nullptr &&
                            is_named(element->base, values.variable.name) &&
                            is_number(element->index, number) &&
                            is_named(component->object, vector->variable.name) &&
                            component->name == component_name(number);
      if (!in_order) return nullptr;
    }
    const auto* load = as<Subscript>(vector->value);
    const auto* view =
        load != nullptr && is_number(load->index, 0) ? as<Cast>(load->base) : nullptr;
    const ExprPtr place = view != nullptr ? addressed(*view->operand) : nullptr;
    const auto* element = place ? as<Subscript>(place) : nullptr;
    return element != nullptr && is<VariableReference>(element->base) ? place : nullptr;
  }

  // Whether the elements lie one behind the other in the tile, from where a vector may.
  bool is_aligned_run(const OverPlaces& store) const {
    const std::vector<ExprPtr> indices = indices_of(*store.assignment->target);
    const auto* tile = base_variable(*store.assignment->target);
    const Variable* variable = tile != nullptr ? analysis_.local(tile->name) : nullptr;
    if (variable == nullptr || variable->extents.size() != indices.size() ||
        variable->alignment != kWidestAccess || variable->extents.back() % store.width != 0) {
      return false;
    }
    for (std::size_t at = 0; at + 1 < indices.size(); ++at) {
      if (variables_of(indices[at]).contains(store.place)) return false;
    }
    const auto* sum = as_binary(indices.back(), BinaryOperator::add);
    return sum != nullptr && is_named(sum->right, store.place) &&
           is_multiple(sum->left, store.width);
  }

  // n * W, or the name of that.
  bool is_multiple(const ExprPtr& expr, std::int64_t width) const {
    if (const auto* product = as_binary(expr, BinaryOperator::multiply)) {
      const auto* factor = as<IntegerLiteral>(product->right);
      return factor != nullptr && factor->value % width == 0;
    }
    const auto* name = as<VariableReference>(expr);
    if (name == nullptr) return false;
    for (const Block* block : {&part_.declarations, &part_.condition_declarations}) {
      for (const StmtPtr& stmt : *block) {
        const auto* declaration = as<Declaration>(stmt);
        if (declaration != nullptr && declaration->variable.name == name->name)
          return is_multiple(declaration->value, width);
      }
    }
    return false;
  }

  const CopyPart& part_;
  const Analysis& analysis_;
};

}  // namespace

Result<Block> asynchronous(const CopyPart& part, const Analysis& analysis) {
  return AsynchronousCopy(part, analysis).run();
}

}  // namespace regraph::rewrite
