#include "rewrite/transform/scan_code.h"

#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

// Puts registers in the place of elements that are read. What is stored goes where it went.
class ReadReplacer final : public Mutator {
 public:
  ReadReplacer(const std::vector<HeldLoad>& loads, const std::vector<ExprPtr>& registers)
      : loads_(loads), registers_(registers) {}

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Subscript& access) override {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (registers_[i] && equal(expr, loads_[i].access)) return registers_[i];
    }
    return Mutator::mutate(expr, access);
  }

  StmtPtr mutate(const StmtPtr& stmt, const Assignment& assignment) override {
    for (const HeldLoad& load : loads_) {
      if (!equal(assignment.target, load.access)) continue;
      ExprPtr value = run(assignment.value);
      if (value == assignment.value) return stmt;
      auto result = std::make_shared<Assignment>(assignment);
      result->value = std::move(value);
      return result;
    }
    return Mutator::mutate(stmt, assignment);
  }

  const std::vector<HeldLoad>& loads_;
  const std::vector<ExprPtr>& registers_;  // null: left where it is
};

Block with_name(const Block& block, const Reduction& from, const Reduction& to) {
  return rewrite_expressions(block, replace_variable(from.variable, to.value()));
}

}  // namespace

ScanCode::ScanCode(const ForLoop& loop, const SharedLoop& shared, const ScanTeam& team,
                   const RowVectors* plan, RowVectorCode* vectors, Names& names)
    : loop_(loop),
      shared_(shared),
      team_(team),
      plan_(plan),
      vectors_(vectors),
      names_(names),
      round_(names.fresh("round")),
      place_(vectors != nullptr ? vectors->place() : names.fresh("item")) {
  first_ = vectors != nullptr ? vectors->first() : names.fresh("first");
  if (team.items == 1) first_ = shared.counted.name;
  for (const HeldLoad& load : shared.scan->loads) {
    const auto& base = base_variable(*load.access)->name;
    const bool is_vector = vectors != nullptr && vectors->array_of(*load.access) != nullptr;
    held_.push_back(is_vector ? "" : names.fresh(base + (team.items == 1 ? "_value" : "_values")));
  }
  for (const Reduction& reduction : shared.reductions) {
    RunningValue value = {reduction, reduction, reduction};
    value.part.variable = names.fresh(reduction.variable + "_part");
    value.here.variable = names.fresh(reduction.variable + "_here");
    values_.push_back(std::move(value));
  }
}

Block ScanCode::run(Block& declarations) {
  const std::int64_t apart = team_.items * shared_.counted.stride;
  const ExprPtr first = source::add(source::variable(round_), multiply(team_.lane, integer(apart)));
  Block body;
  if (vectors_ != nullptr) {
    body.push_back(declare_integer(first_, first));
  } else {
    body.push_back(counter(first_, first, true));
  }
  read(body);
  Block terms = on_registers(shared_.scan->terms);
  Block whole = on_registers(loop_.body);
  for (const RunningValue& value : values_) {
    body.push_back(value.part.declared(value.start()));
    terms = with_name(terms, value.total, value.part);
    whole = with_name(whole, value.total, value.here);
  }
  const auto append = [&body](const Block& block) {
    body.insert(body.end(), block.begin(), block.end());
  };
  // Both stand in one block where a guard around them falls away.
  if (team_.items == 1) terms = names_.renamed(terms);
  append(for_items(std::move(terms)));
  append(exchange_parts(values_, team_, names_, declarations));
  append(for_items(std::move(whole)));
  store(body);
  return {round(std::move(body))};
}

// A variable of the counter's type.
StmtPtr ScanCode::counter(const std::string& name, ExprPtr value, bool is_const) const {
  Variable variable = loop_.declaration()->variable;
  variable.name = name;
  variable.is_const = is_const;
  return declare(std::move(variable), std::move(value));
}

StmtPtr ScanCode::round(Block body) const {
  const ExprPtr number = source::variable(round_, loop_.declaration()->variable.scalar);
  // Vectors begin at the row's beginning, also where the loop does not.
  StmtPtr init = vectors_ != nullptr ? declare_integer(round_, integer(0), false)
                                     : counter(round_, shared_.counted.first, false);
  const std::int64_t step = std::int64_t{team_.threads} * team_.items * shared_.counted.stride;
  return source::loop(std::move(init), less(number, shared_.counted.limit),
                      assign(number, AssignmentOperator::add, integer(step)), std::move(body));
}

// The register of an element that is read ahead; null where its array is moved by vectors.
ExprPtr ScanCode::held(std::size_t load) const {
  if (held_[load].empty()) return nullptr;
  const ScalarType scalar = shared_.scan->loads[load].scalar;
  const ExprPtr base = source::variable(held_[load], scalar);
  return team_.items == 1 ? base : source::element(base, {source::variable(place_)});
}

// The body for each of the thread's items that there is, with the loop's counter: the first item is
// the counter where it is the only one.
Block ScanCode::for_items(Block body) const {
  const CountedLoop& counted = shared_.counted;
  const ExprPtr first = source::variable(first_);
  const ExprPtr item = source::variable(counted.name, loop_.declaration()->variable.scalar);
  // A vector lies in the row or behind it.
  ExprPtr exists = less(item, counted.limit);
  if (vectors_ != nullptr) {
    exists = counted.starts_at_zero() ? nullptr
                                      : binary(BinaryOperator::greater_equal, item, counted.first);
  }
  if (exists) body = {branch(std::move(exists), std::move(body))};
  if (team_.items == 1) return body;
  const ExprPtr distance = multiply(source::variable(place_), integer(counted.stride));
  body.insert(body.begin(), counter(counted.name, source::add(first, distance), true));
  StmtPtr over =
      counted_loop(place_, integer(0), integer(team_.items), 1, std::move(body), kUnrollFully);
  if (vectors_ == nullptr) return {std::move(over)};
  return {branch(less(first, counted.limit), {std::move(over)})};
}

// With registers in the place of elements.
Block ScanCode::on_registers(const Block& body) const {
  std::vector<ExprPtr> registers;
  for (std::size_t i = 0; i < held_.size(); ++i)
    registers.push_back(held(i));
  Block result = ReadReplacer(shared_.scan->loads, registers).run(body);
  if (vectors_ == nullptr) return result;
  return rewrite_expressions(result, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const RowArray* array = vectors_->array_of(*expr);
    if (array == nullptr) return std::nullopt;
    return vectors_->held_at(*array, source::variable(place_));
  });
}

// The elements of the thread's items.
void ScanCode::read(Block& out) {
  Block vectors;
  if (vectors_ != nullptr) {
    const auto written = vectors_->written_by(loop_);
    for (const RowArray& array : plan_->arrays) {
      const bool is_read = vectors_->needs_old(loop_, array);
      if (!is_read && !written.contains(array.name)) continue;
      out.push_back(vectors_->hold(array));
      if (!is_read) continue;
      const Block load = vectors_->load(array);
      vectors.insert(vectors.end(), load.begin(), load.end());
    }
  }
  if (!vectors.empty()) {
    out.push_back(
        branch(less(source::variable(first_), shared_.counted.limit), std::move(vectors)));
  }
  Block elements;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const ExprPtr target = held(i);
    if (!target) continue;
    const HeldLoad& load = shared_.scan->loads[i];
    std::vector<std::int64_t> extents;
    if (team_.items > 1) extents.push_back(team_.items);
    out.push_back(
        declare(local_variable(held_[i], load.type, load.scalar, std::move(extents)), nullptr));
    StmtPtr fill = assign(target, load.load);
    if (!load.guards.empty()) fill = branch(conjunction(load.guards), {std::move(fill)});
    elements.push_back(std::move(fill));
  }
  if (elements.empty()) return;
  const Block filled = for_items(std::move(elements));
  out.insert(out.end(), filled.begin(), filled.end());
}

// The vectors that the loop writes; of one in which the loop begins, the elements.
void ScanCode::store(Block& out) const {
  if (vectors_ == nullptr) return;
  const auto written = vectors_->written_by(loop_);
  for (const RowArray& array : plan_->arrays) {
    if (!written.contains(array.name)) continue;
    Block whole = vectors_->store(array);
    if (!shared_.counted.starts_at_zero()) {
      const ExprPtr place =
          to_expression(array.rest + Polynomial::symbol(shared_.counted.name), array.wide_index);
      const ExprPtr element = source::element(source::variable(array.name, array.scalar), {place});
      const Block single =
          for_items({assign(element, vectors_->held_at(array, source::variable(place_)))});
      const ExprPtr is_whole =
          binary(BinaryOperator::greater_equal, source::variable(first_), shared_.counted.first);
      out.push_back(
          branch(is_whole,
                 {branch(less(source::variable(first_), shared_.counted.limit), std::move(whole))},
                 single));
      continue;
    }
    out.push_back(branch(less(source::variable(first_), shared_.counted.limit), std::move(whole)));
  }
}

}  // namespace regraph::rewrite
