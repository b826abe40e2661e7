#include "rewrite/forms/derived_counters.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is_named;
using source::Kernel;
using source::Stmt;
using source::StmtPtr;

namespace {

// How a statement advances a variable.
struct Advance {
  std::string name;
  ExprPtr distance;
  bool is_backwards = false;
};

std::optional<Advance> advance_of(const Stmt& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  const auto* target =
      assignment != nullptr ? as<source::VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return std::nullopt;
  const std::string& name = target->name;
  if (assignment->op == AssignmentOperator::add) return Advance{name, assignment->value};
  if (assignment->op == AssignmentOperator::subtract) return Advance{name, assignment->value, true};
  const auto* sum = as<Binary>(assignment->value);
  if (assignment->op != AssignmentOperator::assign || sum == nullptr) return std::nullopt;
  if (is_named(sum->left, name) && sum->op == BinaryOperator::subtract)
    return Advance{name, sum->right, true};
  if (sum->op != BinaryOperator::add) return std::nullopt;
  if (is_named(sum->left, name)) return Advance{name, sum->right};
  if (is_named(sum->right, name)) return Advance{name, sum->left};
  return std::nullopt;
}

bool is_integer(ScalarType type) {
  return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
         type == ScalarType::u64;
}

// Names that statements of the block, or below, may give a value.
std::set<std::string> changed_in(const Block& block) {
  std::set<std::string> names = source::declared_names(block);
  source::walk(block, [&](const Stmt& stmt) {
    if (const auto* base = target_of(stmt) ? source::place_variable(*target_of(stmt)) : nullptr)
      names.insert(base->name);
    source::walk_own_expressions(stmt, [&](const Expr& expr) {
      source::for_each_passed_place(expr, [&](const Expr& place) {
        if (const auto* base = source::place_variable(place)) names.insert(base->name);
      });
    });
  });
  return names;
}

bool mentions(const StmtPtr& stmt, const std::string& name) {
  bool found = false;
  source::walk_expressions({stmt},
                           [&](const Expr& expr) { found = found || is_named(expr, name); });
  return found;
}

class Deriver {
 public:
  explicit Deriver(const Kernel& kernel) : analysis_(kernel) {}

  Block run(const Block& block) const {
    Block result;
    for (std::size_t at = 0; at < block.size(); ++at) {
      StmtPtr stmt = block[at];
      if (!body_of(*stmt).empty() || !otherwise_of(*stmt).empty())
        stmt = with_blocks(stmt, run(body_of(*stmt)), run(otherwise_of(*stmt)));
      const Block behind(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      while (StmtPtr derived = without_an_advance(stmt, result, behind))
        stmt = std::move(derived);
      result.push_back(std::move(stmt));
    }
    return result;
  }

 private:
  // The loop without one of the variables that it advances; null where there is none.
  StmtPtr without_an_advance(const StmtPtr& stmt, const Block& front, const Block& behind) const {
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = source::counted_loop_of(*stmt);
    if (loop == nullptr || !counted) return nullptr;
    bool leaves = false;
    source::walk(loop->body, [&](const Stmt& inner) {
      leaves = leaves || source::is<source::Jump>(inner) || source::is<source::Return>(inner);
    });
    if (leaves) return nullptr;
    for (std::size_t at = 0; at < loop->body.size(); ++at) {
      const auto advance = advance_of(*loop->body[at]);
      if (!advance || !is_free(advance->name, *loop, at, front, behind)) continue;
      if (StmtPtr result = derived(*loop, *counted, *advance, at)) return result;
    }
    return nullptr;
  }

  // Whether the variable has its first value from a declaration in front of the loop, and only the
  // statement `at` of its body changes it from there on.
  bool is_free(const std::string& name, const ForLoop& loop, std::size_t at, const Block& front,
               const Block& behind) const {
    const source::Variable* variable = analysis_.local(name);
    if (variable == nullptr || !variable->scalar || !is_integer(*variable->scalar) ||
        !variable->extents.empty() || variable->storage != source::Storage::automatic) {
      return false;
    }
    const auto declared = std::find_if(front.begin(), front.end(), [&](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->variable.name == name;
    });
    if (declared == front.end() || !source::to<Declaration>(*declared).value) return false;
    if (changed_in(Block(declared + 1, front.end())).contains(name)) return false;
    Block others = loop.body;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    if (changed_in(others).contains(name)) return false;
    const StmtPtr header = source::loop(loop.init, loop.condition, loop.step, {});
    return !mentions(header, name) &&
           std::none_of(behind.begin(), behind.end(),
                        [&](const StmtPtr& stmt) { return mentions(stmt, name); });
  }

  // With what the variable follows from in its place; null where that is not known.
  StmtPtr derived(const ForLoop& loop, const source::CountedLoop& counted, const Advance& advance,
                  std::size_t at) const {
    std::set<std::string> changed = changed_in(loop.body);
    changed.insert(counted.name);
    const ScalarType type = *analysis_.local(advance.name)->scalar;
    if (!is_fixed(advance.distance, changed) || !is_fixed(counted.first, changed)) return nullptr;
    if (!advance.distance->type || !is_integer(*advance.distance->type) ||
        size_in_bytes(*advance.distance->type) > size_in_bytes(type)) {
      return nullptr;
    }
    // What lies between neighbouring values of the counter.
    ExprPtr distance = advance.distance;
    if (counted.stride != 1) {
      const auto* number = as<source::IntegerLiteral>(distance);
      if (number == nullptr || number->value % counted.stride != 0) return nullptr;
      distance = source::integer(number->value / counted.stride);
    }
    const auto& counter = loop.declaration()->variable.scalar;
    ExprPtr count = source::variable(counted.name, counter);
    if (!counted.starts_at_zero()) count = source::subtract(count, counted.first);
    // As the variable was computed: signed or not, in as many bits.
    const auto as_variable = [&](const ExprPtr& value, const std::optional<ScalarType>& from) {
      return from == type || source::is<source::IntegerLiteral>(value)
                 ? value
                 : source::cast(analysis_.local(advance.name)->type, value);
    };
    const ExprPtr offset =
        source::multiply(as_variable(count, counter), as_variable(distance, distance->type));
    const auto moved = [&](const ExprPtr& from, const ExprPtr& by) {
      return source::with_type(
          advance.is_backwards ? source::subtract(from, by) : source::add(from, by), type);
    };
    const ExprPtr before = moved(source::variable(advance.name, type), offset);
    const ExprPtr after = moved(before, as_variable(advance.distance, advance.distance->type));
    auto result = std::make_shared<ForLoop>(loop);
    result->body.clear();
    for (std::size_t i = 0; i < loop.body.size(); ++i) {
      if (i == at) continue;
      const Block replaced = source::rewrite_expressions(
          {loop.body[i]}, source::replace_variable(advance.name, i < at ? before : after));
      result->body.insert(result->body.end(), replaced.begin(), replaced.end());
    }
    return result;
  }

  bool is_fixed(const ExprPtr& expr, const std::set<std::string>& changed) const {
    if (analysis_.reads_memory(expr)) return false;
    const std::set<std::string> names = source::variables_of(expr);
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return changed.contains(name); });
  }

  const source::Analysis analysis_;
};

}  // namespace

Kernel with_derived_counters(const Kernel& kernel) {
  Kernel result = kernel;
  result.body = Deriver(kernel).run(kernel.body);
  return result;
}

}  // namespace regraph::rewrite
