#include "rewrite/transform/neighbour_vectors.h"

#include "affine/size_expression.h"
#include "rewrite/transform/vector_code.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::rewrite {

namespace {

// All but one in so many of a vector's elements have to be used.
constexpr int kMostlyUsed = 4;

// Whether something below leaves the block or the kernel early.
bool may_be_left(const Block& block) {
  return any_statement(block, [&](const Stmt& stmt) { return is<Jump>(stmt) || is<Return>(stmt); });
}

}  // namespace

NeighbourVectors::NeighbourVectors(const Kernel& kernel, const Analysis& analysis,
                                   const Problem& problem, Names& names, int width)
    : kernel_(kernel),
      analysis_(analysis),
      problem_(problem),
      names_(names),
      width_(width),
      places_(kernel, analysis) {}

Block NeighbourVectors::run(const Block& block) {
  const std::vector<Vector> vectors =
      may_be_left(block) ? std::vector<Vector>{} : vectors_of(block);
  vectors_ += static_cast<int>(vectors.size());
  Block result;
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const Vector& vector : vectors) {
      if (vector.first != at) continue;
      if (vector.stores) {
        result.push_back(declare(vector_variable(vector.name, vector.shape()), nullptr));
      } else if (vector.is_in_front) {
        const ExprPtr place = first_place(vector);
        const ExprPtr exists = source::binary(BinaryOperator::greater_equal,
                                              source::to<Subscript>(place).index, integer(0));
        append(declare_vector_where(vector.name, vector.shape(), place, exists), result);
      } else {
        append(declare_vector(vector.name, vector.shape(), first_place(vector)), result);
      }
    }
    const StmtPtr stmt = with_components(block[at], at, vectors);
    result.push_back(with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt))));
    for (const Vector& vector : vectors) {
      if (!vector.stores || vector.last != at) continue;
      append(store_vector(vector.name, vector.shape(), first_place(vector)), result);
    }
  }
  return result;
}

std::vector<ExprPtr> NeighbourVectors::conditions() const {
  std::vector<ExprPtr> result;
  // A size that the widest vectors divide is one that the others divide.
  std::vector<Polynomial> rests;
  int widest = 1;
  for (const auto& [rest, width] : rests_) {
    rests.push_back(rest);
    widest = std::max(widest, width);
  }
  return places_.conditions(rests, widest);
}

std::vector<NeighbourVectors::Vector> NeighbourVectors::vectors_of(const Block& block) {
  collect(block);
  std::map<std::pair<std::string, bool>, std::vector<std::pair<Polynomial, Offsets>>> groups;
  for (const Access& access : accesses_) {
    auto& known = groups[{access.place.array, access.is_store}];
    auto group = std::find_if(known.begin(), known.end(),
                              [&](const auto& one) { return one.first == access.place.rest; });
    if (group == known.end()) group = known.insert(known.end(), {access.place.rest, {}});
    group->second[access.place.offset].push_back(&access);
  }
  std::vector<Vector> result;
  for (const auto& [key, known] : groups) {
    const auto& [array, stores] = key;
    if (analysis_.is_viewed(array)) continue;
    if (analysis_.is_written(array) && !is_known(array, block)) continue;
    for (const auto& [rest, offsets] : known)
      fill(offsets, stores, result);
  }
  return result;
}

// The accesses of the block, those that happen whenever it is run among them.
void NeighbourVectors::collect(const Block& block) {
  accesses_.clear();
  updated_.clear();
  for (std::size_t at = 0; at < block.size(); ++at) {
    const StmtPtr& stmt = block[at];
    collect_below(*stmt, at);
    if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) continue;
    collect(value_of(*stmt), at, true);
    const auto* assignment = as<Assignment>(stmt);
    if (assignment == nullptr) continue;
    const auto* target = as<Subscript>(assignment->target);
    if (target == nullptr) continue;
    collect(target->index, at, true);
    if (assignment->op == AssignmentOperator::assign) {
      add(*target, at, true, true);
    } else if (const auto* base = base_variable(*target)) {
      updated_.insert(base->name);
    }
  }
}

// Loads of a branch's blocks: they are not certain, but may start at a place that is known at the
// branch.
void NeighbourVectors::collect_below(const Stmt& stmt, std::size_t at) {
  if (!is<Branch>(stmt)) return;
  for (const Block* block : {&body_of(stmt), &otherwise_of(stmt)}) {
    const std::set<std::string> own = declared_names(*block);
    walk_expressions(*block, [&](const Expr& expr) {
      const auto* element = as<Subscript>(expr);
      if (element == nullptr) return;
      const std::set<std::string> used = variables_of(element->index);
      const bool is_known_here = std::none_of(
          used.begin(), used.end(), [&](const std::string& name) { return own.contains(name); });
      if (is_known_here) add(*element, at, false, false);
    });
  }
}

void NeighbourVectors::collect(const ExprPtr& expr, std::size_t at, bool is_certain) {
  if (!expr) return;
  if (const auto* choice = as<Conditional>(expr)) {
    collect(choice->condition, at, is_certain);
    collect(choice->then, at, false);
    collect(choice->otherwise, at, false);
    return;
  }
  if (const auto* binary = as<Binary>(expr);
      binary != nullptr &&
      (binary->op == BinaryOperator::logical_and || binary->op == BinaryOperator::logical_or)) {
    collect(binary->left, at, is_certain);
    collect(binary->right, at, false);
    return;
  }
  if (addressed(*expr)) return;
  if (const auto* element = as<Subscript>(expr)) add(*element, at, false, is_certain);
  for_each_operand(*expr, [&](const ExprPtr& operand) { collect(operand, at, is_certain); });
}

void NeighbourVectors::add(const Subscript& element, std::size_t at, bool is_store,
                           bool is_certain) {
  auto place = places_.place_of(element);
  if (!place) return;
  // What is written is moved only where nothing about it depends on conditions.
  if (!is_certain && analysis_.is_written(place->array)) return;
  accesses_.push_back({at, &element, std::move(*place), is_store, is_certain});
}

// Whether the accesses are all that the block does with the array.
bool NeighbourVectors::is_known(const std::string& array, const Block& block) const {
  std::size_t uses = 0;
  walk_expressions(block, [&](const Expr& expr) { uses += is_named(expr, array) ? 1 : 0; });
  const auto known = std::count_if(accesses_.begin(), accesses_.end(), [&](const Access& access) {
    return access.place.array == array;
  });
  return !updated_.contains(array) && static_cast<std::size_t>(known) == uses;
}

// Whether elements of an array that is written may be loaded earlier, or stored later: meanwhile
// nothing is accessed at a distance that is not known, and none of the elements is stored twice or
// read after it was stored.
bool NeighbourVectors::can_be_moved(const Vector& vector) const {
  std::map<std::int64_t, std::size_t> stored;
  for (const Access& access : accesses_) {
    if (access.place.array != vector.place.array) continue;
    if (!(access.place.rest == vector.place.rest)) {
      if (access.stmt >= vector.first && access.stmt <= vector.last) return false;
    } else if (access.is_store && !stored.emplace(access.place.offset, access.stmt).second) {
      return false;
    }
  }
  return std::all_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
    if (access.is_store || access.place.array != vector.place.array ||
        !(access.place.rest == vector.place.rest)) {
      return true;
    }
    const auto store = stored.find(access.place.offset);
    return store == stored.end() || access.stmt <= store->second;
  });
}

// A vector that holds an element of a buffer lies inside it where the width divides the buffer's
// length.
std::optional<Polynomial> NeighbourVectors::divisible_length(const std::string& array, int width) {
  if (analysis_.is_written(array)) return std::nullopt;
  const auto length = buffer_length(array, problem_, nullptr, kernel_, analysis_, false);
  const auto result = length ? places_.polynomial(*length) : std::nullopt;
  return result && places_.can_divide(*result, width) ? result : std::nullopt;
}

void NeighbourVectors::fill(const Offsets& offsets, bool stores, std::vector<Vector>& out) {
  const NeighbourPlace& some = offsets.begin()->second.front()->place;
  const KernelParameter* parameter = kernel_.parameter(some.array);
  if (!parameter->scalar) return;
  const auto is_certain = [](const Access* access) { return access->is_certain; };
  std::set<std::int64_t> open;
  for (const auto& [offset, accesses] : offsets)
    open.insert(offset);
  for (int width = width_; width >= 2; width /= 2) {
    if (!can_start(some, {*parameter->scalar, width})) continue;
    const auto length = stores ? std::nullopt : divisible_length(some.array, width);
    for (const auto& [offset, accesses] : offsets) {
      const std::int64_t start = offset - (offset % width + width) % width;
      int certain = 0;
      int used = 0;
      for (std::int64_t place = start; place < start + width; ++place) {
        if (!open.contains(place)) continue;
        ++used;
        const auto& all = offsets.at(place);
        certain += std::any_of(all.begin(), all.end(), is_certain) ? 1 : 0;
      }
      const bool is_inside =
          certain > 0 && length && kMostlyUsed * used >= width * (kMostlyUsed - 1);
      if (certain < width && !is_inside) continue;
      Vector vector = vector_of(offsets, start, width, stores);
      if (analysis_.is_written(some.array) && !can_be_moved(vector)) continue;
      vector.name = names_.fresh(some.array + "_vector");
      out.push_back(std::move(vector));
      for (std::int64_t place = start; place < start + width; ++place)
        open.erase(place);
      rests_.emplace_back(some.rest, width);
      if (certain < width) rests_.emplace_back(*length, width);
    }
  }
  if (!stores && !analysis_.is_written(some.array)) fill_in_front(offsets, open, out);
}

bool NeighbourVectors::can_start(const NeighbourPlace& some, const VectorShape& shape) const {
  return rewrite::can_be_moved(shape) && shape.bytes() <= kWidestAccess &&
         shape.alignment() <= problem_.assume.align && places_.can_divide(some.rest, shape.width);
}

// What a window reads in front of the elements that are there in any case, under conditions: where
// a row begins its vector may be the end of another row, and there is none in front of the buffer.
void NeighbourVectors::fill_in_front(const Offsets& offsets, std::set<std::int64_t>& open,
                                     std::vector<Vector>& out) {
  const NeighbourPlace& some = offsets.begin()->second.front()->place;
  const ScalarType scalar = *kernel_.parameter(some.array)->scalar;
  std::optional<std::int64_t> last;
  for (const auto& [offset, accesses] : offsets) {
    if (std::any_of(accesses.begin(), accesses.end(),
                    [](const Access* access) { return access->is_certain; }))
      last = offset;
  }
  if (!last) return;
  for (int width = width_; width >= 2; width /= 2) {
    if (!can_start(some, {scalar, width})) continue;
    for (const auto& [offset, accesses] : offsets) {
      const std::int64_t start = offset - (offset % width + width) % width;
      int used = 0;
      for (std::int64_t place = start; place < start + width; ++place)
        used += open.contains(place) ? 1 : 0;
      if (start + width - 1 > *last || kMostlyUsed * used < width * (kMostlyUsed - 1)) continue;
      Vector vector = vector_of(offsets, start, width, false);
      const auto type = vector.neighbour->type;
      if (type != ScalarType::i32 && type != ScalarType::i64) continue;
      vector.is_in_front = true;
      vector.name = names_.fresh(some.array + "_vector");
      out.push_back(std::move(vector));
      for (std::int64_t place = start; place < start + width; ++place)
        open.erase(place);
      rests_.emplace_back(some.rest, width);
    }
  }
}

NeighbourVectors::Vector NeighbourVectors::vector_of(const Offsets& offsets, std::int64_t start,
                                                     int width, bool stores) {
  const Access* first = nullptr;
  const Access* last = nullptr;
  for (int number = 0; number < width; ++number) {
    const auto known = offsets.find(start + number);
    if (known == offsets.end()) continue;
    for (const Access* access : known->second) {
      if (first == nullptr || access->stmt < first->stmt) first = access;
      if (last == nullptr || access->stmt > last->stmt) last = access;
    }
  }
  const Access& known = stores ? *last : *first;
  NeighbourPlace place = known.place;
  place.offset = start;
  const ScalarType scalar = *kernel_.parameter(place.array)->scalar;
  return {"",
          scalar,
          place,
          width,
          stores,
          false,
          first->stmt,
          last->stmt,
          known.element->index,
          start - known.place.offset};
}

StmtPtr NeighbourVectors::with_components(const StmtPtr& stmt, std::size_t at,
                                          const std::vector<Vector>& vectors) {
  if (vectors.empty()) return stmt;
  const ExprRewrite rewrite = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    return with_components(expr, at, vectors);
  };
  if (const auto* assignment = as<Assignment>(stmt)) {
    ExprPtr target = assignment->target;
    if (const auto* element = as<Subscript>(target)) {
      ExprPtr part = component(*element, at, true, vectors);
      target =
          part ? part : source::element(element->base, {rewrite_expr(element->index, rewrite)});
      if (!part) target = with_type(target, assignment->target->type);
    }
    return source::assign(target, assignment->op, source::rewrite_expr(assignment->value, rewrite));
  }
  return rewrite_expressions({stmt}, rewrite).front();
}

ExprPtr NeighbourVectors::with_components(const ExprPtr& expr, std::size_t at,
                                          const std::vector<Vector>& vectors) {
  return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (addressed(*node)) return node;
    const auto* element = as<Subscript>(node);
    if (element == nullptr) return std::nullopt;
    const ExprPtr part = component(*element, at, false, vectors);
    return part ? std::optional(part) : std::nullopt;
  });
}

// What stands for the element at the statement; null where it stays as it is.
ExprPtr NeighbourVectors::component(const Subscript& element, std::size_t at, bool stores,
                                    const std::vector<Vector>& vectors) {
  const auto place = places_.place_of(element);
  if (!place) return nullptr;
  for (const Vector& vector : vectors) {
    const std::int64_t number = place->offset - vector.place.offset;
    const bool is_part = vector.stores == stores && vector.place.array == place->array &&
                         number >= 0 && number < vector.width && vector.first <= at &&
                         vector.place.rest == place->rest;
    if (!is_part) continue;
    return vector_component(vector.name, vector.shape(), static_cast<int>(number));
  }
  return nullptr;
}

ExprPtr NeighbourVectors::first_place(const Vector& vector) const {
  const ExprPtr index = vector.distance < 0
                            ? subtract(vector.neighbour, integer(-vector.distance))
                            : source::add(vector.neighbour, integer(vector.distance));
  return source::element(source::variable(vector.place.array, vector.scalar), {index});
}

}  // namespace regraph::rewrite
