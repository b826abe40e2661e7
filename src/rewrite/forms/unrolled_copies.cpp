#include "rewrite/forms/unrolled_copies.h"

#include "rewrite/forms/named_values.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::ExprPtr;
using source::Polynomial;
using source::StmtPtr;

namespace {

bool is_integer_value(const ExprPtr& expr) {
  return expr->type && !is_floating(*expr->type);
}

// Whether a number passes through fewer than 32 bits, where it wraps around.
bool is_narrowed(const ExprPtr& expr) {
  bool found = false;
  source::walk(expr, [&](const source::Expr& part) {
    found = found || (source::is<source::Cast>(part) && part.type && size_in_bytes(*part.type) < 4);
  });
  return found;
}

// Compares what the several do with what the one does at a place.
class Comparison {
 public:
  Comparison(const CopyPlaces& places, const Analysis& analysis)
      : places_(places), analysis_(analysis) {}

  void set_copy(int copy) { here_ = places_.first + places_.distance * Polynomial(copy); }

  [[nodiscard]] bool same(const StmtPtr& done, const StmtPtr& expected) const {
    if (done->kind() != expected->kind()) return false;
    if (const auto* assignment = as<Assignment>(done)) {
      const auto& other = source::to<Assignment>(expected);
      return assignment->op == other.op && same(assignment->target, other.target) &&
             same(assignment->value, other.value);
    }
    const auto* branch = as<Branch>(done);
    if (branch == nullptr) return false;
    const auto& other = source::to<Branch>(expected);
    return same(branch->condition, other.condition) && same(branch->body, other.body) &&
           same(branch->otherwise, other.otherwise);
  }

 private:
  [[nodiscard]] bool same(const Block& done, const Block& expected) const {
    return std::equal(done.begin(), done.end(), expected.begin(), expected.end(),
                      [this](const StmtPtr& a, const StmtPtr& b) { return same(a, b); });
  }

  [[nodiscard]] bool same(const ExprPtr& done, const ExprPtr& expected) const {
    if (is_integer_value(done) && is_integer_value(expected) && !is_narrowed(done) &&
        !is_narrowed(expected)) {
      const auto a = place_polynomial(done, places_.counter, analysis_);
      const auto b = place_polynomial(expected, places_.counter, analysis_);
      if (a && b) return *a == b->substitute(places_.counter, here_);
    }
    return done->kind() == expected->kind() && done->type == expected->type &&
           same_node(*done, *expected) && same_operands(*done, *expected);
  }

  [[nodiscard]] bool same_operands(const source::Expr& done, const source::Expr& expected) const {
    std::vector<ExprPtr> a;
    std::vector<ExprPtr> b;
    for_each_operand(done, [&](const ExprPtr& operand) { a.push_back(operand); });
    for_each_operand(expected, [&](const ExprPtr& operand) { b.push_back(operand); });
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
  }

  // Apart from their operands.
  [[nodiscard]] bool same_node(const source::Expr& done, const source::Expr& expected) const {
    using source::to;
    switch (done.kind()) {
      case source::ExprKind::integer_literal:
        return to<source::IntegerLiteral>(done).value == to<source::IntegerLiteral>(expected).value;
      case source::ExprKind::floating_literal:
        return to<source::FloatingLiteral>(done).spelling ==
               to<source::FloatingLiteral>(expected).spelling;
      case source::ExprKind::variable_reference: {
        const std::string& name = to<source::VariableReference>(done).name;
        return name == to<source::VariableReference>(expected).name && name != places_.counter;
      }
      case source::ExprKind::builtin:
        return to<source::Builtin>(done).name == to<source::Builtin>(expected).name;
      case source::ExprKind::unary:
        return to<source::Unary>(done).op == to<source::Unary>(expected).op;
      case source::ExprKind::binary:
        return to<Binary>(done).op == to<Binary>(expected).op;
      case source::ExprKind::conditional:
      case source::ExprKind::subscript:
        return true;
      case source::ExprKind::call:
        return to<source::Call>(done).function == to<source::Call>(expected).function;
      case source::ExprKind::cast:
        return to<source::Cast>(done).target == to<source::Cast>(expected).target;
      case source::ExprKind::member:
        return to<source::Member>(done).name == to<source::Member>(expected).name;
      case source::ExprKind::list:
      case source::ExprKind::opaque:
        return false;
    }
    return false;
  }

  const CopyPlaces& places_;
  const Analysis& analysis_;
  Polynomial here_;
};

// s = s + v as s += v.
StmtPtr as_update(const StmtPtr& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || assignment->op != AssignmentOperator::assign) return stmt;
  const auto* sum = source::as_binary(assignment->value, BinaryOperator::add);
  if (sum == nullptr || assignment->target->type != assignment->value->type) return stmt;
  const bool is_left = source::equal(sum->left, assignment->target);
  if (!is_left && !source::equal(sum->right, assignment->target)) return stmt;
  return source::assign(assignment->target, AssignmentOperator::add,
                        is_left ? sum->right : sum->left);
}

// The scalar that the statement adds to; null for others.
const source::VariableReference* added_to(const StmtPtr& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || assignment->op != AssignmentOperator::add) return nullptr;
  const auto* target = as<source::VariableReference>(assignment->target);
  return target != nullptr && !source::variables_of(assignment->value).contains(target->name)
             ? target
             : nullptr;
}

void add_terms(const ExprPtr& value, ScalarType type, std::vector<ExprPtr>& out) {
  const auto* sum = source::as_binary(value, BinaryOperator::add);
  if (sum == nullptr || value->type != type) {
    out.push_back(value);
    return;
  }
  add_terms(sum->left, type, out);
  add_terms(sum->right, type, out);
}

// s += a + b   ->   s += a; s += b
Block with_terms_apart(const Block& block) {
  Block result;
  for (const StmtPtr& stmt : block) {
    const auto* target = added_to(stmt);
    if (target == nullptr || !target->type) {
      result.push_back(stmt);
      continue;
    }
    std::vector<ExprPtr> terms;
    const auto& assignment = source::to<Assignment>(stmt);
    add_terms(assignment.value, *target->type, terms);
    for (const ExprPtr& term : terms)
      result.push_back(source::assign(assignment.target, AssignmentOperator::add, term));
  }
  return result;
}

// Whether the first of two statements may as well come after the second.
class StatementSwap {
 public:
  StatementSwap(const Analysis& analysis, const CopyLicence& licence)
      : analysis_(analysis), licence_(licence) {}

  CopyLicence relied_on;

  bool can_swap(const StmtPtr& a, const StmtPtr& b) {
    const MemoryUse one = memory_use_of(a, analysis_);
    const MemoryUse other = memory_use_of(b, analysis_);
    std::set<std::string> apart;
    const auto* target = added_to(a);
    const auto* second = added_to(b);
    if (target != nullptr && second != nullptr && target->name == second->name && target->type) {
      if (is_floating(*target->type)) {
        if (!licence_.reordered_sums) return false;
        relied_on.reordered_sums = true;
      }
      apart.insert(target->name);
    }
    return can_pass(one, other, apart) && can_pass(other, one, apart);
  }

 private:
  // Whether what `writer` writes is nothing to the other, apart from some scalars.
  bool can_pass(const MemoryUse& writer, const MemoryUse& other,
                const std::set<std::string>& apart) {
    for (const std::string& name : writer.written) {
      if (!apart.contains(name) && (other.read.contains(name) || other.written.contains(name)))
        return false;
    }
    for (const Element& store : writer.stores) {
      for (const auto* elements : {&other.loads, &other.stores}) {
        for (const Element& element : *elements) {
          if (!are_apart(store, element, analysis_, licence_.distinct_buffers,
                         relied_on.distinct_buffers)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Analysis& analysis_;
  const CopyLicence& licence_;
};

// The statements without names for values, all of one shape.
std::optional<NamedValues::Result> statements_of(const Block& block, const Analysis& analysis,
                                                 const CopyLicence& licence) {
  auto result = NamedValues(analysis, licence.distinct_buffers).written_out(block);
  if (!result) return std::nullopt;
  for (StmtPtr& stmt : result->statements)
    stmt = as_update(stmt);
  return result;
}

class CopyFinder {
 public:
  CopyFinder(const CopyPlaces& places, const Analysis& analysis, const CopyLicence& licence)
      : places_(places), comparison_(places, analysis), swap_(analysis, licence) {}

  // Takes the done statements for expected ones, one after the other.
  std::optional<CopyLicence> find(const Block& done, const Block& one) {
    if (one.empty() || done.size() != one.size() * static_cast<std::size_t>(places_.copies))
      return std::nullopt;
    std::vector<Expected> open;
    for (int copy = 0; copy < places_.copies; ++copy) {
      for (const StmtPtr& stmt : one)
        open.push_back({stmt, copy, nullptr});
    }
    // What each of the expected is called in the several.
    std::vector<bool> is_taken(done.size());
    std::vector<std::size_t> order;  // of the done ones, the place among the expected
    for (const StmtPtr& stmt : done) {
      const std::size_t at = place_of(stmt, open, is_taken);
      if (at == open.size()) return std::nullopt;
      is_taken[at] = true;
      open[at].done = stmt;
      order.push_back(at);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t k = i + 1; k < order.size(); ++k) {
        if (order[k] < order[i] && !swap_.can_swap(open[order[i]].done, open[order[k]].done))
          return std::nullopt;
      }
    }
    return swap_.relied_on;
  }

 private:
  struct Expected {
    StmtPtr stmt;
    int copy = 0;
    StmtPtr done;
  };

  std::size_t place_of(const StmtPtr& stmt, const std::vector<Expected>& open,
                       const std::vector<bool>& is_taken) {
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (is_taken[at]) continue;
      comparison_.set_copy(open[at].copy);
      if (comparison_.same(stmt, open[at].stmt)) return at;
    }
    return open.size();
  }

  const CopyPlaces& places_;
  Comparison comparison_;
  StatementSwap swap_;
};

}  // namespace

std::optional<Polynomial> place_polynomial(const ExprPtr& expr, const std::string& counter,
                                           const Analysis& analysis) {
  const source::SymbolMeaning known = analysis.meaning();
  return source::to_polynomial(expr, [&](const std::string& name) -> std::optional<Polynomial> {
    if (name != counter) {
      if (auto value = known(name)) return value;
    }
    return Polynomial::symbol(name);
  });
}

std::optional<CopyLicence> relied_on_by_copies(const Block& several, const Block& one,
                                               const CopyPlaces& places, const Analysis& analysis,
                                               const CopyLicence& licence) {
  const auto done = statements_of(several, analysis, licence);
  const auto single = done ? statements_of(one, analysis, licence) : std::nullopt;
  if (!single) return std::nullopt;
  auto result = CopyFinder(places, analysis, licence).find(done->statements, single->statements);
  if (!result && licence.reordered_sums) {
    result = CopyFinder(places, analysis, licence)
                 .find(with_terms_apart(done->statements), with_terms_apart(single->statements));
    if (result) result->reordered_sums = true;
  }
  if (result && (done->needs_distinct_buffers || single->needs_distinct_buffers))
    result->distinct_buffers = true;
  return result;
}

}  // namespace regraph::rewrite
