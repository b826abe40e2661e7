#include "rewrite/transform/row_vector_code.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Of a row that is too long to be kept: so many vectors are asked for before the first is used.
constexpr int kVectorsInFlight = 4;

}  // namespace

RowVectorCode::RowVectorCode(const Kernel& kernel, const RowVectors& plan, const RowPlan& rows,
                             int threads, std::string lane, Names& names)
    : kernel_(kernel),
      plan_(plan),
      names_(names),
      threads_(threads),
      lane_(std::move(lane)),
      step_(names.fresh("vector")),
      first_(names.fresh("first")),
      place_(names.fresh("place")),
      values_(plan),
      kept_(find_kept_values(plan, rows)) {
  for (const RowArray& array : plan.arrays) {
    registers_[&array] = names.fresh(array.name + "_values");
    vectors_[&array] = names.fresh(array.name + "_vector");
    stored_[&array] = names.fresh(array.name + "_stored");
  }
  for (std::size_t i = 0; i < kept_.size(); ++i)
    kept_names_.push_back(names.fresh("kept"));
}

ExprPtr RowVectorCode::condition() const {
  std::vector<ExprPtr> terms;
  for (const std::string& parameter : plan_.divisible) {
    terms.push_back(
        equals(remainder(source::variable(parameter, kernel_.parameter(parameter)->scalar),
                         integer(plan_.width)),
               integer(0)));
  }
  if (plan_.vectors > 0) {
    terms.push_back(binary(BinaryOperator::less_equal, plan_.limit,
                           integer(std::int64_t{plan_.vectors} * plan_.width * threads_)));
  }
  return conjunction(terms);
}

ExprPtr RowVectorCode::held_at(const RowArray& array, const ExprPtr& place) const {
  const ExprPtr base = source::variable(registers_.at(&array), array.scalar);
  if (!array.is_kept) return source::element(base, {place});
  return source::element(base, {source::variable(step_), place});
}

StmtPtr RowVectorCode::hold(const RowArray& array) {
  held_.insert(&array);
  const auto outer = array.is_kept ? std::optional(plan_.vectors) : std::nullopt;
  return declare(element_array(registers_.at(&array), array.element_type, shape_of(array), outer),
                 nullptr);
}

VectorShape RowVectorCode::shape_of(const RowArray& array) const {
  return {array.scalar, plan_.width};
}

// The array's element at `first`.
ExprPtr RowVectorCode::first_element(const RowArray& array) const {
  const ExprPtr index = to_expression(array.rest + Polynomial::symbol(first_), array.wide_index);
  return source::element(source::variable(array.name, array.scalar), {index});
}

Block RowVectorCode::load(const RowArray& array) const {
  return load_elements(held_at(array, integer(0)), shape_of(array), first_element(array),
                       vectors_.at(&array));
}

Block RowVectorCode::store(const RowArray& array) const {
  return store_elements(held_at(array, integer(0)), shape_of(array), first_element(array),
                        stored_.at(&array));
}

// A loop over the lane's vectors.
StmtPtr RowVectorCode::over_vectors(Block body) const {
  const ExprPtr lane = source::variable(lane_);
  if (plan_.vectors == 0) {
    const ScalarType counter = plan_.is_wide ? ScalarType::i64 : ScalarType::i32;
    const ExprPtr first = source::variable(first_, counter);
    return source::loop(declare(local_variable(first_, std::string(cuda_name(counter)), counter),
                                multiply(lane, integer(plan_.width))),
                        less(first, plan_.limit),
                        source::assign(first, AssignmentOperator::add,
                                       integer(std::int64_t{plan_.width} * threads_)),
                        std::move(body), kVectorsInFlight);
  }
  const ExprPtr number = source::add(multiply(source::variable(step_), integer(threads_)), lane);
  Block code = {declare_integer(first_, multiply(number, integer(plan_.width))),
                branch(less(source::variable(first_), plan_.limit), std::move(body))};
  return counted_loop(step_, integer(0), integer(plan_.vectors), 1, std::move(code), kUnrollFully);
}

std::set<std::string> RowVectorCode::written_by(const ForLoop& loop) const {
  std::set<std::string> written;
  walk(loop.body, [&](const Stmt& stmt) {
    const auto* assignment = as<Assignment>(stmt);
    const RowArray* target = assignment != nullptr ? array_of(*assignment->target) : nullptr;
    if (target != nullptr) written.insert(target->name);
  });
  return written;
}

// Whether an iteration reads the array's element before it writes it.
bool RowVectorCode::needs_old(const ForLoop& loop, const RowArray& array) const {
  const auto is_of = [&](const Expr& node) { return array_of(node) == &array; };
  for (const StmtPtr& stmt : loop.body) {
    const auto* assignment = as<Assignment>(stmt);
    const bool stores = assignment != nullptr && array_of(*assignment->target) == &array;
    if (stores && assignment->op == AssignmentOperator::assign &&
        !any_expression(assignment->value, is_of)) {
      return false;
    }
    if (stores || any_expression(Block{stmt}, is_of)) return true;
  }
  return false;
}

ExprPtr RowVectorCode::kept_at(const KeptValue& kept) const {
  const std::string& name = kept_names_[static_cast<std::size_t>(&kept - kept_.data())];
  return source::element(source::variable(name, kept.scalar),
                         {source::variable(step_), source::variable(place_)});
}

// The loop's body with values that are kept: put into registers, or taken from there.
Block RowVectorCode::with_kept_values(const ForLoop& loop, const Block& body) const {
  std::vector<const KeptValue*> here;
  for (const KeptValue& kept : kept_) {
    const bool is_here = kept.computed == &loop || std::ranges::count(kept.later, &loop) > 0;
    if (is_here) here.push_back(&kept);
  }
  if (here.empty()) return body;
  Block result;
  for (const StmtPtr& stmt : body) {
    for (const KeptValue* kept : here)
      if (kept->statement == stmt.get()) result.push_back(assign(kept_at(*kept), kept->own));
    append(rewrite_expressions({stmt},
                               [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
                                 const auto it = std::ranges::find_if(here, [&](const auto* kept) {
                                   return values_.is(*kept, expr, loop);
                                 });
                                 return it != here.end() ? std::optional(kept_at(**it))
                                                         : std::nullopt;
                               }),
           result);
  }
  return result;
}

// What the loop does with an element, for all of the vector at `first`.
StmtPtr RowVectorCode::over_places(const ForLoop& loop, const Block& body) const {
  const Block kept = with_kept_values(loop, body);
  Block element = rewrite_expressions(kept, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const RowArray* array = array_of(*expr);
    if (array == nullptr) return std::nullopt;
    return held_at(*array, source::variable(place_));
  });
  const auto counted = counted_loop_of(loop);
  if (counted && !counted->starts_at_zero()) {
    element = {branch(
        binary(BinaryOperator::greater_equal, source::variable(counted->name), counted->first),
        std::move(element))};
  }
  element.insert(element.begin(),
                 declare(loop.declaration()->variable,
                         source::add(source::variable(first_), source::variable(place_))));
  return counted_loop(place_, integer(0), integer(plan_.width), 1, std::move(element),
                      kUnrollFully);
}

// The maximum first grows to the largest value of the vector, and sums are scaled to that:
//
//   high = m;  for (place) high = fmaxf(high, v);
//   if (high > m) sum *= expf(m - high);  m = high;  for (place) sum += expf(v - m);
void RowVectorCode::scale_once(const ForLoop& loop, const SharedLoop::Growth& growth, Block& out) {
  const auto at = loop.body.begin() + static_cast<std::ptrdiff_t>(growth.position);
  const Block values(loop.body.begin(), at);
  const StmtPtr& update = *std::next(at);
  const auto& target = to<Assignment>(update).target;
  Variable high = local_variable(names_.fresh(growth.maximum + "_of_vector"),
                                 std::string(cuda_name(*target->type)), target->type);
  const ExprPtr largest = source::variable(high.name, high.scalar);
  out.push_back(declare(high, target));

  Block compares = values;
  for (const StmtPtr& stmt :
       rewrite_expressions({update}, replace_variable(growth.maximum, largest)))
    compares.push_back(stmt);
  out.push_back(names_.renamed({over_places(loop, compares)}).front());
  for (const StmtPtr& stmt : rewrite_expressions({*at}, replace_variable(growth.value, largest)))
    out.push_back(stmt);
  out.push_back(source::assign(target, largest));
  Block adds = values;
  adds.insert(adds.end(), at + 2, loop.body.end());
  out.push_back(over_places(loop, adds));
}

void RowVectorCode::add_loop(const ForLoop& loop, const std::set<std::string>& written_later,
                             const SharedLoop::Growth* growth, Block& out) {
  std::set<const RowArray*> read;
  const std::set<std::string> written = written_by(loop);
  for (const RowArray& array : plan_.arrays) {
    if (needs_old(loop, array)) read.insert(&array);
  }

  Block loads;
  Block body;
  for (const RowArray& array : plan_.arrays) {
    const bool is_used = read.contains(&array) || written.contains(array.name);
    if (!is_used) continue;
    if (!array.is_kept) body.push_back(hold(array));
    if (array.is_kept && !held_.contains(&array)) out.push_back(hold(array));
    const bool needs = read.contains(&array) && !(array.is_kept && loaded_.contains(&array));
    if (!needs) continue;
    const Block code = load(array);
    Block& into = array.is_kept ? loads : body;
    into.insert(into.end(), code.begin(), code.end());
  }
  if (!loads.empty()) out.push_back(over_vectors(std::move(loads)));
  for (const KeptValue& kept : kept_) {
    if (kept.computed != &loop) continue;
    const std::string& name = kept_names_[static_cast<std::size_t>(&kept - kept_.data())];
    out.push_back(declare(local_variable(name, std::string(cuda_name(kept.scalar)), kept.scalar,
                                         {plan_.vectors, plan_.width}),
                          nullptr));
  }
  loaded_.insert(read.begin(), read.end());
  for (const RowArray& array : plan_.arrays) {
    if (written.contains(array.name)) loaded_.insert(&array);
  }

  if (growth != nullptr) {
    scale_once(loop, *growth, body);
  } else {
    body.push_back(over_places(loop, loop.body));
  }
  for (const RowArray& array : plan_.arrays) {
    if (!written.contains(array.name)) continue;
    // Kept in registers until the last loop that writes it.
    if (array.is_kept && written_later.contains(array.name)) continue;
    const Block code = store(array);
    body.insert(body.end(), code.begin(), code.end());
  }
  out.push_back(over_vectors(std::move(body)));
}

}  // namespace regraph::rewrite
